"""What has values no more, or has some at last, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.asv_support.results import Cell
    from format_bench.changes.cell_series import CellSeries


@dataclass(frozen=True)
class Turn:
    """Cells of one format in one module of suites that lost or gained their values at one point."""

    module: str
    format: str
    before: int
    """The last point at which they were as before."""
    at: int
    gained: bool
    status: str
    """What they are instead of a value, as in "failed"."""
    reason: str
    cells: list[CellSeries]


def turns(series: Sequence[CellSeries]) -> list[Turn]:
    """Return all turns between points at which a cell was run; those with the same reason are one."""
    found: dict[tuple[object, ...], Turn] = {}
    for each in series:
        run = [(point, cell) for point, cell in enumerate(each.cells) if cell]
        for (before, old), (at, new) in pairwise(run):
            if (old.value is None) == (new.value is None):
                continue
            gained = old.value is None
            without: Cell = old if gained else new
            group = each.group
            key = (group.module, group.format, at, gained, without.status, without.sentence)
            turn = Turn(
                group.module, group.format, before, at, gained, without.status, without.sentence, []
            )
            found.setdefault(key, turn).cells.append(each)
    return list(found.values())
