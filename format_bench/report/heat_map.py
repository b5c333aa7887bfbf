"""Formats by data sets: how many times the best of its column each value is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.display.text import quantity, times
from format_bench.report.charted import CHARTED
from format_bench.report.marks import marks_of
from format_bench.report.ratios import ratios

if TYPE_CHECKING:
    from format_bench.report.cells import Entry, Measure
    from format_bench.report.groups import Family, Group
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
    rows: list[tuple[Entry, list[HeatCell]]]


def heat_maps(family: Family, floors: Floors | None) -> Iterator[HeatMap]:
    """Yield a map for each measure that has a chart and is a time or a number of bytes."""
    for measure in sorted(family.measures, key=_place):
        groups = [group for group in family.groups if group.values(measure)]
        units = {
            cell.unit for group in groups for (_, each), cell in group.cells.items() if each == measure
        }
        if measure.metric in CHARTED and units and units <= {"seconds", "bytes"}:
            columns = [_column(group, measure, family.entries, floors) for group in groups]
            rows = zip(family.entries, map(list, zip(*columns, strict=True)), strict=True)
            yield HeatMap(_title(measure), [group.name for group in groups], list(rows))


def _place(measure: Measure) -> int:
    """Return a sort key: maps are in the order of the charts."""
    return list(CHARTED).index(measure.metric) if measure.metric in CHARTED else len(CHARTED)


def _title(measure: Measure) -> str:
    return CHARTED[measure.metric] + (f", {measure.cache}" if measure.cache else "")


def _column(
    group: Group, measure: Measure, entries: list[Entry], floors: Floors | None
) -> list[HeatCell]:
    found, marks = ratios(group, measure), marks_of(group, measure, floors)
    cells = []
    for entry in entries:
        cell, ratio = group.cell(entry, measure), found.get(entry)
        if cell.value is None:
            cells.append(HeatCell(cell.status, "empty", None, cell.sentence))
            continue
        value = quantity(cell.value, cell.unit)
        text = value if ratio is None else times(ratio)
        cells.append(HeatCell(text, _shade(ratio, marks[entry]), ratio, value))
    return cells


def _shade(ratio: float | None, mark: str) -> str:
    if mark:
        return {BEST: "best", TIE: "tie"}[mark]
    if ratio is None:
        return "plain"
    return next((f"under-{bound}" for bound in _BOUNDS if ratio < bound), f"over-{_BOUNDS[-1]}")
