"""Output of a recommendation: sentences and a table on a terminal, or JSON."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adapter_core.text import visible
from format_bench.recommendation import brief
from format_bench.recommendation.code import code_of
from format_bench.recommendation.cost import KINDS, Bill
from format_bench.recommendation.sensitivity import ROUND_TRIP_SECONDS, BreakEven
from format_bench.results.display import terminal
from format_bench.results.display.text import format_ratio, joined, quantity
from format_bench.results.marks import TIE
from format_bench.results.suites import item_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from format_bench.recommendation.evidence import Evidence
    from format_bench.recommendation.recommend import Excluded, Ranked, Recommendation
    from format_bench.results.candidates import Candidate
    from format_bench.results.metrics import Measure


# Upper limit of ratios that are printed as 1.00, and so count as the best.
NEAR = 1.005

# Number of better candidates, excluded by requirements, that are named.
SHOWN = 2


def paragraph(answer: Recommendation) -> str:
    """Return the recommendation in words: reasons, losses, and changes that would matter."""
    if answer.is_tiny:
        return " ".join(f"{name} {text}." for name, text in brief.brief_of(answer).lines)
    sentences = [_use(answer), *_merits(answer), *_ties(answer), _change(answer)]
    sentences += [
        f"{each.candidate.name} would come first, but {joined(each.reasons.values(), most=None)}."
        for each in answer.better_but_excluded[:SHOWN]
    ]
    return " ".join(each for each in sentences if each)


def break_even(found: BreakEven) -> str:
    """Return a break-even as a sentence."""
    speed = found.bytes_per_second and quantity(found.bytes_per_second, "bytes")
    smaller = brief.subject(found.smaller)
    if found.round_trips:
        waits = [f"{name} waits for {number:.0f}" for name, number in found.round_trips.items()]
        start = f"Read on a server, with round trips of {ROUND_TRIP_SECONDS * 1000:.0f} ms "
        start += f"({joined(waits, most=None)}):"
        if speed is None:
            return f"{start} {smaller} arrives first at any speed."
        return f"{start} below {speed}/s {smaller} arrives first; above, {found.other}."
    if speed is None:
        return (
            f"{found.smaller} is no larger than {found.other} and reads no more slowly: it arrives "
            "first over a link of any speed."
        )
    return f"Below {speed}/s {smaller} arrives first; above, {found.other}."


def _use(answer: Recommendation) -> str:
    name = answer.first.candidate.name
    number = len(answer.ranked)
    meeting = f" that meet {joined(answer.requirements, most=None)}" if answer.requirements else ""
    if number == 1:
        one = f"the only one{meeting.replace('meet', 'meets')}"
        if not answer.unmeasured:
            return f"Use {name}: it is {one}."
        names = joined(answer.unmeasured)
        return f"Use {name}: it is {one} so far; not yet measured on all rows: {names}."
    weights = [
        f"{_with_transfer(measure, answer)} (weight {weight:g})"
        for measure, weight in answer.weights.items()
    ]
    counting = joined(weights, most=None)
    return f"Use {name}: of {number}{meeting} it is best on the whole, counting {counting}."


def _with_transfer(measure: Measure, answer: Recommendation) -> str:
    speed = answer.speeds.speed_of(measure)
    return f"{measure.phrase} with transfer at {quantity(speed, 'bytes')}/s" if speed else measure.phrase


def _merits(answer: Recommendation) -> list[str]:
    """Return the measures that the first one leads, and the others."""
    if len(answer.ranked) == 1:
        return []
    ratios = answer.first.ratios
    best = [measure.phrase for measure, ratio in ratios.items() if ratio is not None and ratio < NEAR]
    worse = [
        f"{measure.phrase} ({_factor(ratio)}, that of {_best_in(measure, answer)})"
        for measure, ratio in ratios.items()
        if ratio is None or ratio >= NEAR
    ]
    found = [f"Nothing is better in {joined(best, most=None)}."] if best else []
    return found + ([f"It gives up {joined(worse, most=None)}."] if worse else [])


def _factor(ratio: float | None) -> str:
    return "more than the best" if ratio is None else f"{format_ratio(ratio)} times the best"


def _best_in(measure: Measure, answer: Recommendation) -> str:
    """Return the candidates with the best values, where the first one has others."""
    names = []
    for dataset in answer.datasets:
        candidates = [each.candidate for each in answer.ranked]
        values = [(answer.speeds.value(each, dataset, measure), each.name) for each in candidates]
        found = [(value, name) for value, name in values if value is not None]
        firsts = answer.speeds.value(answer.first.candidate, dataset, measure)
        if found and min(found)[0] < (firsts or 0):
            names.append(min(found)[1])
    return " or ".join(dict.fromkeys(names))


def _ties(answer: Recommendation) -> list[str]:
    if not answer.ties:
        return []
    names = joined((each.candidate.name for each in answer.ties), most=None)
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


# Mark of a candidate on the Pareto front.
FRONT = "P"

LEGEND = (
    "place: those that noise allows. score: the weighted geometric mean of how many times the best each "
    "value is, 1 being the best there can be, near zero by differences. The other columns: how many "
    f"times the best, the geometric mean over data sets. {TIE} a tie with the first; {FRONT} on the "
    "Pareto front, where none is better in one metric and nowhere worse."
)


def show(
    answer: Recommendation,
    *,
    quiet: bool,
    explain: bool = False,
    evidence: Sequence[Evidence] = (),
) -> None:
    """Print a recommendation in three lines.

    Parameters
    ----------
    answer : Recommendation
        The recommendation.
    quiet : bool
        Without legend and caveats.
    explain : bool
        Also print everything that supports it.
    evidence : sequence of Evidence
        Printed with the rest.
    """
    console = terminal.console()
    if banner := answer.disturbance.banner:
        terminal.prose(console, banner)
    for name, text in brief.brief_of(answer).lines:
        terminal.prose(console, f"{name + ':':9}{text}", indent=" " * 9)
    if code := brief.pasted_code(answer):
        console.print(f"Code:    {code.command}", soft_wrap=True)
    if explain:
        console.print()
        if code:
            console.print(visible(code.text), soft_wrap=True)
            console.print()
        _explain(console, answer, quiet=quiet)
        if evidence:
            console.print("Evidence:")
        for each in evidence:
            terminal.prose(console, f"- {each.kind}: {each.text} ({each.source})", indent="  ")
    elif not quiet:
        for caveat in answer.caveats[: answer.leading_caveats]:
            terminal.prose(console, f"note: {caveat}", indent="  ")
        terminal.prose(console, "--explain shows the ranking, ties, reasons and evidence.")


def _explain(console: Console, answer: Recommendation, *, quiet: bool) -> None:
    """Print the ranking, the reasons, break-evens, exclusions and evidence."""
    terminal.prose(console, f"{answer.results}: {_datasets(answer)}")
    header = [
        "format",
        "",
        "place",
        "score",
        *(f"{each.phrase} ({w:g})" for each, w in answer.weights.items()),
    ]
    terminal.table(console, "", header, [_row(each, answer) for each in answer.ranked])
    terminal.prose(console, paragraph(answer))
    for each in (*answer.break_evens, *answer.remote_break_evens):
        terminal.prose(console, break_even(each))
    code = "" if answer.is_undecided else code_of(answer.first.candidate.configuration)
    if code:
        console.print(f"Code to paste for {answer.first.candidate.name}:", highlight=False)
        console.out(textwrap.indent(code, "  "), highlight=False)
    _show_excluded(console, answer)
    if not quiet:
        for caveat in answer.caveats:
            terminal.prose(console, f"note: {caveat}", indent="  ")
        terminal.prose(console, LEGEND)


def bill_title(found: Bill) -> str:
    """Return the heading of costs: the use of a month, and whose prices."""
    cloud = found.cloud
    use = ", ".join(f"{number:,g} {name}" for name, number in asdict(cloud.use).items() if number)
    return f"{cloud.currency} for {use} a month; {cloud.name}, {cloud.date}"


BILL_HEADER = ["format", "a month", "a year", "storage", *KINDS]


def bill_rows(found: Bill) -> list[list[str]]:
    """Return a row of costs for each format, the cheapest first."""
    return [
        [name, *map(money, (each.month, each.year, each.storage, *each.by_kind.values()))]
        for name, each in found.costs.items()
    ]


def show_bill(found: Bill, *, quiet: bool) -> None:
    """Print the costs of a month and a year; if `quiet`, without the origins of numbers."""
    console = terminal.console()
    terminal.table(console, bill_title(found), BILL_HEADER, bill_rows(found))
    for sentence in found.break_evens:
        terminal.prose(console, sentence)
    for sentence in found.missing.values():
        terminal.prose(console, f"- without costs: {sentence}", indent="  ")
    if not quiet:
        for sentence in [*found.sources, f"prices by {found.cloud.source}"]:
            terminal.prose(console, f"note: {sentence}", indent="  ")


# Amounts from here on have two decimals; three digits of a smaller one say more.
_CENT = 0.995


def money(amount: float) -> str:
    """Return an amount without its currency, e.g. "1,234.50" or "0.00123"."""
    return f"{amount:,.2f}" if amount == 0 or amount >= _CENT else f"{amount:.3g}"


def bill_to_json(found: Bill) -> dict[str, Any]:
    """Return costs as JSON values, in the currency of the prices."""
    cloud = asdict(found.cloud)
    return {
        "cloud": cloud | {"date": str(found.cloud.date)},
        "costs": [
            {
                "name": name,
                "month": each.month,
                "year": each.year,
                "storage_month": each.storage,
                **{f"{kind}_month": amount for kind, amount in each.by_kind.items()},
                **{f"one_of_{kind}": amount for kind, amount in each.each.items()},
            }
            for name, each in found.costs.items()
        ],
        "without_costs": found.missing,
        "break_evens": found.break_evens,
        "sources": found.sources,
    }


def _datasets(answer: Recommendation) -> str:
    things = f"{item_of(answer.suite)}s"
    by_rows: dict[int, list[str]] = {}
    for name, rows in answer.datasets:
        by_rows.setdefault(rows, []).append(name)
    return ", ".join(f"{', '.join(names)} ({rows:,} {things})" for rows, names in by_rows.items())


def _row(ranked: Ranked, answer: Recommendation) -> list[str]:
    marks = TIE * (ranked in answer.ties) + FRONT * ranked.on_front
    ratios = ["> 0" if each is None else format_ratio(each) for each in ranked.ratios.values()]
    least, most = ranked.places
    place = f"{least}" if least == most else f"{least}-{most}"
    return [ranked.candidate.name, marks, place, format_ratio(ranked.score), *ratios]


def _show_excluded(console: Console, answer: Recommendation) -> None:
    """Print the reasons why candidates are excluded, a line each."""
    if answer.excluded:
        console.print("Excluded:")
    for each in answer.excluded:
        terminal.prose(console, f"- {'; '.join(each.reasons.values()) or each.empty}", indent="  ")


SCHEMA_VERSION = 1
"""Version of `answer_schema.json`; raised when something is removed or changes its meaning."""


def to_json(answer: Recommendation, evidence: Sequence[Evidence] = ()) -> dict[str, Any]:
    """Return a recommendation as JSON values, as `answer_schema.json` describes them.

    Numbers are as measured, in the units of `METRICS`.
    """
    change = answer.change
    return {
        "version": SCHEMA_VERSION,
        "answer": brief.to_json(answer),
        "banner": answer.disturbance.banner or None,
        "median_noise": answer.disturbance.noise,
        "results": answer.results,
        "family": answer.suite,
        "tables": [dataset._asdict() for dataset in answer.datasets],
        "weights": {measure.option: weight for measure, weight in answer.weights.items()},
        "requirements": list(answer.requirements),
        "bytes_per_second": answer.speeds._asdict(),
        "noise": answer.noise,
        "use": None if answer.is_undecided else answer.first.candidate.name,
        "explanation": paragraph(answer),
        "ranked": [_ranked(each, answer) for each in answer.ranked],
        "excluded": [_excluded(each) for each in answer.excluded],
        "not_measured_on_all_rows": [str(each) for each in answer.unmeasured],
        "change": change
        and {"metric": change.measure.option, "weight": change.weight, "first": change.name},
        "break_evens": [_break_even(each) for each in answer.break_evens],
        "remote_break_evens": [_break_even(each) for each in answer.remote_break_evens],
        "evidence": [each._asdict() for each in evidence],
        "remarks": answer.caveats,
    }


def _break_even(found: BreakEven) -> dict[str, Any]:
    *local, _ = found._asdict().items()
    waits = {"round_trip_seconds": ROUND_TRIP_SECONDS, "round_trips": found.round_trips}
    return dict(local) | (waits if found.round_trips else {})


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {"name": candidate.name, **candidate.configuration.to_json()}


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
                "dataset": dataset.dataset,
                "rows": dataset.rows,
                "metric": measure.option,
                "unit": measure.unit,
                "value": candidate.value(dataset, measure),
            }
            for dataset in answer.datasets
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
