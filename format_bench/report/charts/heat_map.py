"""Formats by data sets: how many times the best of its column each value is.

A heat map as a drawing, for outputs that have no tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.units import format_ratio, quantity
from format_bench.report.charts.drawing import Drawing, Rectangle, Text, fitted, width_of
from format_bench.report.model import CHARTED, SuiteResults
from format_bench.report.ranking import ratios_to_best
from format_bench.results.marks import BEST, TIE, marks_of

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors


COLOURS = {
    "empty": "#f4f4f1",
    "plain": "#f4f4f1",
    "best": "#cdebdb",
    "tie": "#e4f4ec",
    "under-2": "#fcf8ef",
    "under-5": "#f8ecd3",
    "under-10": "#f3dcae",
    "under-30": "#ecc68a",
    "under-100": "#e3ab6c",
    "over-100": "#d89058",
}
"""Of the background of a cell, by its shade; text in ink has 5.9:1 or more on each."""

_BOUNDS = (2, 5, 10, 30, 100)


@dataclass(frozen=True)
class HeatCell:
    """One place of a heat map."""

    text: str
    """The ratio; where the best is 0, the value; where there is none, why."""
    shade: str
    """One of `COLOURS`."""
    ratio: float | None
    tip: str
    """The value with its unit, or the sentence."""


@dataclass(frozen=True)
class HeatMap:
    """A measure of one family."""

    title: str
    columns: list[str]
    """The names of the groups."""
    rows: list[tuple[Configuration, list[HeatCell]]]


def heat_maps(family: SuiteResults, floors: Floors | None) -> Iterator[HeatMap]:
    """Yield a map for each measure that has a chart and is a time or a number of bytes."""
    for measure in sorted(family.measures, key=_place):
        groups = [group for group in family.groups if group.values(measure)]
        units = {
            cell.unit for group in groups for (_, each), cell in group.cells.items() if each == measure
        }
        if measure.metric in CHARTED and units and units <= {"seconds", "bytes"}:
            columns = [_column(group, measure, family.configurations, floors) for group in groups]
            rows = zip(family.configurations, map(list, zip(*columns, strict=True)), strict=True)
            yield HeatMap(_title(measure), [group.name for group in groups], list(rows))


def _place(measure: Measure) -> int:
    """Return a sort key: maps are in the order of the charts."""
    return list(CHARTED).index(measure.metric) if measure.metric in CHARTED else len(CHARTED)


def _title(measure: Measure) -> str:
    return CHARTED[measure.metric] + (f", {measure.cache}" if measure.cache else "")


def _column(
    group: ComparisonGroup, measure: Measure, entries: list[Configuration], floors: Floors | None
) -> list[HeatCell]:
    found, marks = ratios_to_best(group, measure), marks_of(group, measure, floors)
    cells = []
    for entry in entries:
        cell, ratio = group.cell(entry, measure), found.get(entry)
        if cell.value is None:
            cells.append(HeatCell(cell.status, "empty", None, cell.sentence))
            continue
        value = quantity(cell.value, cell.unit)
        text = value if ratio is None else format_ratio(ratio)
        cells.append(HeatCell(text, _shade(ratio, marks[entry]), ratio, value))
    return cells


def _shade(ratio: float | None, mark: str) -> str:
    if mark:
        return {BEST: "best", TIE: "tie"}[mark]
    if ratio is None:
        return "plain"
    return next((f"under-{bound}" for bound in _BOUNDS if ratio < bound), f"over-{_BOUNDS[-1]}")


_ROW = 20.0
_TOP = 58.0
_MOST_LABEL = 165.0
_LEAST_COLUMN, _MOST_COLUMN = 64.0, 130.0
_GAP = 2.0
_LEAST_WIDTH = 380.0

NOTE = "times the best of each column"


def draw(heat_map: HeatMap) -> Drawing:
    """Draw a map; it is as wide as its columns need."""
    left = 8 + min(_MOST_LABEL, max(width_of(str(entry), "label") for entry, _ in heat_map.rows))
    names = max(width_of(name, "tick") for name in heat_map.columns) + 8
    column = min(max(names, _LEAST_COLUMN), _MOST_COLUMN)
    width = max(left + column * len(heat_map.columns), _LEAST_WIDTH)
    drawing = Drawing(width, _TOP + _ROW * len(heat_map.rows) + 6)
    drawing.add("title", Text(0, 14, fitted(heat_map.title, "title", width)))
    drawing.add("note", Text(0, 31, NOTE))
    for number, name in enumerate(heat_map.columns):
        middle = left + column * (number + 0.5)
        drawing.add("tick", Text(middle, _TOP - 7, fitted(name, "tick", column - _GAP)))
    for row, (entry, cells) in enumerate(heat_map.rows):
        y = _TOP + _ROW * row
        drawing.add("label", Text(left - 6, y + 14, fitted(str(entry), "label", left - 6)))
        for number, cell in enumerate(cells):
            x = left + column * number
            drawing.add(
                "bar", Rectangle(x, y, column - _GAP, _ROW - _GAP, COLOURS[cell.shade], cell.tip)
            )
            role = "best cell" if cell.shade == "best" else "cell"
            text = fitted(cell.text, role, column - _GAP)
            drawing.add(role, Text(x + (column - _GAP) / 2, y + 13, text))
    return drawing
