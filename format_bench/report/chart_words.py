"""What charts say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.display.text import joined
from format_bench.report.pareto import Points, front

if TYPE_CHECKING:
    from format_bench.report.cells import Entry
    from format_bench.report.series import Series


def bars_in_words(series: dict[str, Series]) -> str:
    """Return what a bar chart says of each of its series."""
    return " ".join(f"{name[:1].upper()}{name[1:]}: {_bars(each)}." for name, each in series.items())


def _bars(series: Series) -> str:
    values = {entry: cell.value for entry, cell in series.cells.items() if cell.value is not None}
    if not values:
        return "no value"
    ordered = sorted(values, key=lambda entry: values[entry])
    phrases = [f"{len(values)} bars, from {_named(series, ordered[0])}"]
    if len(values) > 1:
        phrases[0] += f" to {_named(series, ordered[-1])}"
    for word, mark in (("best", BEST), ("tie with it", TIE)):
        marked = [entry for entry in ordered if series.marks.get(entry) == mark]
        if marked:
            phrases.append(f"{word}: {joined(marked)}")
    empty = [f"{entry} ({cell.status})" for entry, cell in series.cells.items() if cell.value is None]
    if empty:
        phrases.append(f"without a value: {joined(empty)}")
    return "; ".join(phrases)


def _named(series: Series, entry: Entry) -> str:
    cell = series.cells[entry]
    return f"{entry}, {series.show(cell.value or 0, cell.unit)}"


def scatter_in_words(points: Points) -> str:
    """Return what a scatter chart says."""
    ahead = joined(front(points), most=10)
    return f"{len(points)} points. On the Pareto front, which nothing beats in both: {ahead}."
