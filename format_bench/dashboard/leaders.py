"""Who is ahead in what, on each data set: the summary tables of the thesis, computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.display.text import joined, quantity
from format_bench.report.ranking import SUBJECTS, marks_of

if TYPE_CHECKING:
    from format_bench.report.model import Family, Group, Measure
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Leader:
    """Who is ahead in one measure on one data set."""

    names: str
    """The best, or those that share its value; empty if no two values differ."""
    value: str
    ties: str
    """Who cannot be told from the best; empty if nobody."""


@dataclass(frozen=True)
class Leaders:
    """A table: a row for each measure, a column for each data set."""

    columns: list[str]
    rows: list[tuple[str, list[Leader]]]


def leaders(family: Family, floors: Floors | None) -> Leaders:
    """Return who is ahead in the measures that the findings rank, where anyone is."""
    rows = []
    for metric, (subject, _) in SUBJECTS.items():
        for measure in (each for each in family.measures if each.metric == metric):
            found = [_leader(group, measure, floors) for group in family.groups]
            if any(each.names for each in found):
                cache = f", {measure.cache}" if measure.cache else ""
                rows.append((subject + cache, found))
    return Leaders([group.name for group in family.groups], rows)


def _leader(group: Group, measure: Measure, floors: Floors | None) -> Leader:
    marks = marks_of(group, measure, floors)
    best = [entry for entry, mark in marks.items() if mark == BEST]
    if not best:
        return Leader("", "", "")
    cell = group.cell(best[0], measure)
    ties = [entry for entry, mark in marks.items() if mark == TIE]
    return Leader(joined(best), quantity(cell.value or 0, cell.unit), joined(ties))
