"""Values of an operation of a format relative to the first point, for charts and tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.changes.cell_series import CellSeries, Group


@dataclass(frozen=True)
class Relative:
    """An operation of a format at each point of a line, 1 being the first that has a value."""

    group: Group
    middle: list[float | None]
    """Medians over the cells of the group, shape (points,); None where no cell has a value."""
    low: list[float | None]
    high: list[float | None]
    """The smallest and the largest of the cells."""
    statuses: list[str]
    """What it is instead of a value, as in "failed"; empty where there is one."""

    @property
    def values(self) -> list[float]:
        """The medians that there are."""
        return [value for value in self.middle if value is not None]


def relatives(series: Sequence[CellSeries]) -> list[Relative]:
    """Return each group that has values other than 0, in the order of the series."""
    members: dict[Group, list[CellSeries]] = {}
    for each in series:
        members.setdefault(each.group, []).append(each)
    found = [_relative(group, cells) for group, cells in members.items()]
    return [each for each in found if each.values]


def _relative(group: Group, cells: list[CellSeries]) -> Relative:
    by_cell = [_ratios(each) for each in cells]
    at_points = [[ratio for ratio in found if ratio is not None] for found in zip(*by_cell, strict=True)]
    return Relative(
        group=group,
        middle=[statistics.median(found) if found else None for found in at_points],
        low=[min(found, default=None) for found in at_points],
        high=[max(found, default=None) for found in at_points],
        statuses=["" if found else _status(cells, point) for point, found in enumerate(at_points)],
    )


def _ratios(series: CellSeries) -> list[float | None]:
    values = [cell.value if cell else None for cell in series.cells]
    first = next((value for value in values if value), None)
    return [value / first if first and value is not None else None for value in values]


def _status(cells: list[CellSeries], point: int) -> str:
    found = [cell.status for each in cells if (cell := each.cells[point]) and cell.value is None]
    return statistics.mode(found) if found else "not run"
