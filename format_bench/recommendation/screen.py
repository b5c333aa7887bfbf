"""A recommendation on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.display import terminal
from format_bench.recommendation import words

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.recommendation.answer import Ranked, Recommendation

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
    header = ["format", "", "place", "score", *(f"{each} ({w:g})" for each, w in answer.weights.items())]
    terminal.table(console, "", header, [_row(each, answer) for each in answer.ranked])
    terminal.prose(console, words.paragraph(answer))
    for each in answer.break_evens:
        terminal.prose(console, words.break_even(each))
    _show_excluded(console, answer)
    if not quiet:
        for remark in answer.remarks:
            terminal.prose(console, f"note: {remark}", indent="  ")
        terminal.prose(console, LEGEND)


def _tables(answer: Recommendation) -> str:
    things = "images" if answer.family == "image" else "rows"
    by_rows = {rows: [t.dataset for t in answer.tables if t.rows == rows] for _, rows in answer.tables}
    return ", ".join(f"{', '.join(names)} ({rows:,} {things})" for rows, names in by_rows.items())


def _row(ranked: Ranked, answer: Recommendation) -> list[str]:
    marks = TIE * (ranked in answer.ties) + FRONT * ranked.on_front
    ratios = ["> 0" if each is None else terminal.ratio(each) for each in ranked.ratios.values()]
    least, most = ranked.places
    place = f"{least}" if least == most else f"{least}-{most}"
    return [ranked.candidate.name, marks, place, terminal.ratio(ranked.score), *ratios]


def _show_excluded(console: Console, answer: Recommendation) -> None:
    """Print why candidates are excluded, a line each."""
    if answer.excluded:
        console.print("Excluded:")
    for each in answer.excluded:
        terminal.prose(console, f"- {'; '.join(each.reasons.values()) or each.empty}", indent="  ")
