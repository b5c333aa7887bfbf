"""The numbers of a group as a table: a row for each entry, a column for each measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import quantity
from format_bench.report.derived import DERIVED, derive
from format_bench.report.ranking import marks_of

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup, ResultCell
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Place:
    """What one place of a table shows."""

    text: str
    mark: str
    """One of `comparison`'s marks."""
    value: float | None
    """To sort by; None if there is none."""
    tip: str
    """Interval and number of samples, or why there is no value."""


@dataclass(frozen=True)
class Numbers:
    """All numbers of a group."""

    header: list[str]
    """A name for each column."""
    rows: list[tuple[Configuration, list[Place]]]


def numbers(group: ComparisonGroup, floors: Floors | None) -> Numbers:
    """Return the measured cells of a group, and beside them what a codec saves and costs."""
    columns: dict[str, dict[Configuration, Place]] = {}
    for measure in group.measures:
        marks = marks_of(group, measure, floors)
        columns[str(measure)] = {
            entry: _place(group.cell(entry, measure), marks.get(entry, ""))
            for entry in group.configurations
        }
    for derived in DERIVED:
        cells = derive(derived, group)
        if cells:
            columns[derived.title.lower()] = {
                entry: Place(derived.show(cell.value or 0, cell.unit), "", cell.value, _interval(cell))
                for entry, cell in cells.items()
            }
    nothing = Place("-", "", None, "no codec, or no value to relate")
    return Numbers(
        list(columns),
        [
            (entry, [column.get(entry, nothing) for column in columns.values()])
            for entry in group.configurations
        ],
    )


def _place(cell: ResultCell, mark: str) -> Place:
    if cell.value is None:
        return Place(cell.status, "", None, cell.sentence)
    count = len(cell.samples)
    tip = f"median of {count}, {_interval(cell)}" if cell.interval else cell.sentence
    return Place(quantity(cell.value, cell.unit), mark, cell.value, tip)


def _interval(cell: ResultCell) -> str:
    if not cell.interval:
        return ""
    low, high = (quantity(end, cell.unit) for end in cell.interval)
    return f"interval from {low} to {high}"
