"""All there is to tell of a history, found once for all pages and files."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.changes.all_changes import all_changes
from format_bench.changes.cell_series import cell_series
from format_bench.changes.change import Sort
from format_bench.changes.common_moves import common_moves

if TYPE_CHECKING:
    from format_bench.changes.cell_series import CellSeries
    from format_bench.changes.change import Change
    from format_bench.changes.common_moves import CommonMove
    from format_bench.changes.points import History, Line
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Told:
    """What there is to tell of one line."""

    line: Line
    series: list[CellSeries]
    changes: list[Change]
    """Those that are sure, the newest first."""
    suspected: list[Change]
    """What a single process has seen at the newest point."""
    moves: list[CommonMove]

    @property
    def newest(self) -> list[Change]:
        """The changes that the newest point shows first."""
        return [each for each in self.changes if each.since is self.line.points[-1]]

    @property
    def earlier(self) -> list[Change]:
        """All others."""
        return [each for each in self.changes if each.since is not self.line.points[-1]]


@functools.lru_cache(maxsize=1)
def told(history: History, floors: Floors | None) -> list[Told]:
    """Return what there is to tell of each line, in their order."""
    return [_told(history, line, floors) for line in history.lines]


def _told(history: History, line: Line, floors: Floors | None) -> Told:
    series = cell_series(line)
    found = all_changes(history, line, series, floors)
    return Told(
        line=line,
        series=series,
        changes=[each for each in found if each.sort is not Sort.SUSPECTED],
        suspected=[each for each in found if each.sort is Sort.SUSPECTED],
        moves=common_moves(line, series, floors),
    )
