"""A recommendation in plain words.

A recommendation on a terminal.

A recommendation as JSON can hold it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from format_bench.display import terminal
from format_bench.display.units import format_ratio, quantity
from format_bench.results.suites import item_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from format_bench.recommendation.answer import Excluded, Ranked, Recommendation
    from format_bench.recommendation.sensitivity import BreakEven
    from format_bench.results.candidates import Candidate
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
        f"Below {quantity(found.bytes_per_second, 'bytes')}/s, fetched and read, {found.smaller}, "
        f"which is smaller, is sooner there; above it {found.other}, which reads faster."
    )


def _use(answer: Recommendation) -> str:
    name = answer.first.candidate.name
    number = len(answer.ranked)
    meeting = f" that meet {_joined(answer.requirements)}" if answer.requirements else ""
    if number == 1:
        return f"Use {name}: it is the only one{meeting.replace('meet', 'meets')}."
    weighed = _joined(
        f"{measure.phrase} (weight {weight:g})" for measure, weight in answer.weights.items()
    )
    return f"Use {name}: of {number}{meeting} it is best on the whole, counting {weighed}."


def _merits(answer: Recommendation) -> list[str]:
    """Return in what the first one is best, and what it gives up for that."""
    if len(answer.ranked) == 1:
        return []
    ratios = answer.first.ratios
    best = [measure.phrase for measure, ratio in ratios.items() if ratio is not None and ratio < NEAR]
    worse = [
        f"{measure.phrase} ({_factor(ratio)}, that of {_best_in(measure, answer)})"
        for measure, ratio in ratios.items()
        if ratio is None or ratio >= NEAR
    ]
    found = [f"Nothing is better in {_joined(best)}."] if best else []
    return found + ([f"It gives up {_joined(worse)}."] if worse else [])


def _factor(ratio: float | None) -> str:
    return "more than the best" if ratio is None else f"{format_ratio(ratio)} times the best"


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
    return f"{name} would come first if the weight of {measure.phrase} were {other}."


def _joined(words: Iterable[object]) -> str:
    *others, last = map(str, words)
    return f"{', '.join(others)} and {last}" if others else last


TIE, FRONT = "=", "P"

LEGEND = (
    "place: those that noise allows. score: the weighted geometric mean of how many times the best each "
    "value is, 1 being the best there can be, near zero by differences. The other columns: how many "
    f"times the best, the geometric mean over data sets. {TIE} a tie with the first; {FRONT} on the "
    "Pareto front, where none is better in one metric and nowhere worse."
)


def show(answer: Recommendation, *, quiet: bool) -> None:
    """Print an answer; if `quiet`, without legend and remarks."""
    console = terminal.console()
    terminal.prose(console, f"{answer.results}: {_tables(answer)}")
    header = [
        "format",
        "",
        "place",
        "score",
        *(f"{each.phrase} ({w:g})" for each, w in answer.weights.items()),
    ]
    terminal.table(console, "", header, [_row(each, answer) for each in answer.ranked])
    terminal.prose(console, paragraph(answer))
    for each in answer.break_evens:
        terminal.prose(console, break_even(each))
    _show_excluded(console, answer)
    if not quiet:
        for remark in answer.remarks:
            terminal.prose(console, f"note: {remark}", indent="  ")
        terminal.prose(console, LEGEND)


def _tables(answer: Recommendation) -> str:
    things = f"{item_of(answer.family)}s"
    by_rows = {rows: [t.dataset for t in answer.tables if t.rows == rows] for _, rows in answer.tables}
    return ", ".join(f"{', '.join(names)} ({rows:,} {things})" for rows, names in by_rows.items())


def _row(ranked: Ranked, answer: Recommendation) -> list[str]:
    marks = TIE * (ranked in answer.ties) + FRONT * ranked.on_front
    ratios = ["> 0" if each is None else format_ratio(each) for each in ranked.ratios.values()]
    least, most = ranked.places
    place = f"{least}" if least == most else f"{least}-{most}"
    return [ranked.candidate.name, marks, place, format_ratio(ranked.score), *ratios]


def _show_excluded(console: Console, answer: Recommendation) -> None:
    """Print why candidates are excluded, a line each."""
    if answer.excluded:
        console.print("Excluded:")
    for each in answer.excluded:
        terminal.prose(console, f"- {'; '.join(each.reasons.values()) or each.empty}", indent="  ")


def document(answer: Recommendation) -> dict[str, Any]:
    """Return all of an answer; numbers are as measured, in the units of `METRICS`, and not rounded."""
    change = answer.change
    return {
        "results": answer.results,
        "family": answer.family,
        "tables": [table._asdict() for table in answer.tables],
        "weights": {measure.option: weight for measure, weight in answer.weights.items()},
        "requirements": list(answer.requirements),
        "noise": answer.noise,
        "use": answer.first.candidate.name,
        "explanation": paragraph(answer),
        "ranked": [_ranked(each, answer) for each in answer.ranked],
        "excluded": [_excluded(each) for each in answer.excluded],
        "change": change
        and {"metric": change.measure.option, "weight": change.weight, "first": change.name},
        "break_evens": [each._asdict() for each in answer.break_evens],
        "remarks": answer.remarks,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {"name": candidate.name, **candidate.configuration._asdict()}


def _ranked(ranked: Ranked, answer: Recommendation) -> dict[str, Any]:
    candidate = ranked.candidate
    return {
        **_candidate(candidate),
        "score": ranked.score,
        "score_band": list(ranked.band),
        "places": list(ranked.places),
        "ties_with_first": ranked.ties,
        "on_pareto_front": ranked.on_front,
        "times_best": {measure.option: ratio for measure, ratio in ranked.ratios.items()},
        "values": [
            {
                "dataset": table.dataset,
                "rows": table.rows,
                "metric": measure.option,
                "unit": measure.unit,
                "value": candidate.value(table, measure),
            }
            for table in answer.tables
            for measure in answer.weights
        ],
    }


def _excluded(excluded: Excluded) -> dict[str, Any]:
    return {
        **_candidate(excluded.candidate),
        "score": excluded.score,
        "reasons": [
            {"requirement": requirement, "sentence": sentence}
            for requirement, sentence in excluded.reasons.items()
        ],
        "missing_value": excluded.empty or None,
    }
