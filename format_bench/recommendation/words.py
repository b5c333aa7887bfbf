"""A recommendation in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.display import terminal
from format_bench.display.units import human

if TYPE_CHECKING:
    from collections.abc import Iterable

    from format_bench.recommendation.answer import Recommendation
    from format_bench.recommendation.break_even import BreakEven
    from format_bench.results.metrics import Measure

NEAR = 1.005
"""Ratios below it are printed as 1.00, and so count as the best."""

SHOWN = 2
"""How many better ones that are excluded are told of."""


def paragraph(answer: Recommendation) -> str:
    """Return what to use, why, what is given up, and when the answer would change."""
    sentences = [_use(answer), *_merits(answer), *_ties(answer), _change(answer)]
    sentences += [
        f"{each.candidate.name} would come first, but {_joined(each.reasons.values())}."
        for each in answer.better_but_excluded[:SHOWN]
    ]
    return " ".join(each for each in sentences if each)


def break_even(found: BreakEven) -> str:
    """Return a break-even as a sentence."""
    if found.bytes_per_second is None:
        return (
            f"{found.smaller} is no larger than {found.other} and reads no more slowly: it is sooner "
            "there over a link of any speed."
        )
    return (
        f"Below {human(found.bytes_per_second, 'bytes')}/s, fetched and read, {found.smaller}, which is "
        f"smaller, is sooner there; above it {found.other}, which reads faster."
    )


def _use(answer: Recommendation) -> str:
    name = answer.first.candidate.name
    number = len(answer.ranked)
    meeting = f" that meet {_joined(answer.requirements)}" if answer.requirements else ""
    if number == 1:
        return f"Use {name}: it is the only one{meeting.replace('meet', 'meets')}."
    weighed = _joined(f"{measure} (weight {weight:g})" for measure, weight in answer.weights.items())
    return f"Use {name}: of {number}{meeting} it is best on the whole, counting {weighed}."


def _merits(answer: Recommendation) -> list[str]:
    """Return in what the first one is best, and what it gives up for that."""
    if len(answer.ranked) == 1:
        return []
    ratios = answer.first.ratios
    best = [str(measure) for measure, ratio in ratios.items() if ratio is not None and ratio < NEAR]
    worse = [
        f"{measure} ({_factor(ratio)}, that of {_best_in(measure, answer)})"
        for measure, ratio in ratios.items()
        if ratio is None or ratio >= NEAR
    ]
    found = [f"Nothing is better in {_joined(best)}."] if best else []
    return found + ([f"It gives up {_joined(worse)}."] if worse else [])


def _factor(ratio: float | None) -> str:
    return "more than the best" if ratio is None else f"{terminal.ratio(ratio)} times the best"


def _best_in(measure: Measure, answer: Recommendation) -> str:
    """Return whose the best values are, where not the first one's."""
    names = []
    for table in answer.tables:
        values = [(each.candidate.value(table, measure), each.candidate.name) for each in answer.ranked]
        found = [(value, name) for value, name in values if value is not None]
        if found and min(found)[0] < (answer.first.candidate.value(table, measure) or 0):
            names.append(min(found)[1])
    return " or ".join(dict.fromkeys(names))


def _ties(answer: Recommendation) -> list[str]:
    if not answer.ties:
        return []
    names = _joined(each.candidate.name for each in answer.ties)
    are = "are ties" if len(answer.ties) > 1 else "is a tie"
    return [f"{names} {are} with it: they are less apart than noise is."]


def _change(answer: Recommendation) -> str:
    if len(answer.ranked) == 1:
        return ""
    if answer.change is None:
        return "No change of one weight alone would put another first."
    measure, weight, name = answer.change
    now = answer.weights[measure]
    other = f"{'above' if weight >= now else 'below'} {weight:.3g} instead of {now:g}"
    return f"{name} would come first if the weight of {measure} were {other}."


def _joined(words: Iterable[object]) -> str:
    *others, last = map(str, words)
    return f"{', '.join(others)} and {last}" if others else last
