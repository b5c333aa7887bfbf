"""All changes of a line, the newest first.

All there is to tell of a history, found once for all pages and files.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.changes.change import CellChange, Change, Sort
from format_bench.changes.detection.common_mode import common_moves
from format_bench.changes.find import GroupShift, Turn, exact_shifts, measured_shifts, turns
from format_bench.changes.history import version_steps
from format_bench.changes.series import Kind, cell_series
from format_bench.instruments.intervals import median_interval

if TYPE_CHECKING:
    from format_bench.changes.detection.common_mode import CommonMove
    from format_bench.changes.history import History, Line
    from format_bench.changes.series import CellSeries
    from format_bench.results.noise_floor import Floors


VERBS = {
    Kind.TIME: ("slower", "faster"),
    Kind.MEMORY: ("larger", "smaller"),
    Kind.SIZE: ("larger", "smaller"),
    Kind.COUNT: ("more", "fewer"),
}
"""What has become of values that grew, and that shrank."""


def all_changes(
    history: History, line: Line, series: Sequence[CellSeries], floors: Floors | None
) -> list[Change]:
    """Return the changes of a line, the newest first; of one point, in the order of the suites.

    Parameters
    ----------
    history : History
        What the line is of.
    line : Line
        The points.
    series : sequence of CellSeries
        The line's, as `cell_series` returns them.
    floors : Floors, optional
        By how much two equal measurements differ on this machine. Without them stand the shares in
        `format_bench.changes.series`.
    """
    shifted = [*measured_shifts(series, floors), *exact_shifts(series, floors)]
    found = [_of_shift(each, history, line) for each in shifted]
    found += [_of_turn(each, history, line) for each in turns(series)]
    return sorted(found, key=lambda change: change.since.date, reverse=True)


def _of_shift(found: GroupShift, history: History, line: Line) -> Change:
    shift, group = found.shift, found.group
    before = line.points[shift.before[-1]]
    since = line.points[shift.after[-1] if shift.drift else shift.after[0]]
    own, others = version_steps(history, group.module, group.format, before, since)
    cells = [_cell_change(each, shift.before, shift.after, drift=shift.drift) for each in found.cells]
    return Change(
        sort=Sort.DRIFT if shift.drift else Sort.STEP if shift.confirmed else Sort.SUSPECTED,
        line=line,
        module=group.module,
        format=group.format,
        operation=group.operation.name,
        verb=VERBS[group.operation.kind][shift.effect < 0],
        ratio=_ratio(cells),
        before=before,
        since=since,
        cells=cells,
        datasets=list(dict.fromkeys(each.dataset for each in found.of)),
        own_steps=own,
        other_steps=others,
    )


def _ratio(cells: Sequence[CellChange]) -> float | None:
    """Return the geometric mean of the ratios of cells; None if one has a 0 or no value."""
    logarithms = [math.log(cell.after / cell.before) for cell in cells if cell.after and cell.before]
    return math.exp(statistics.fmean(logarithms)) if len(logarithms) == len(cells) > 0 else None


def _cell_change(
    series: CellSeries, before: Sequence[int], after: Sequence[int], *, drift: bool
) -> CellChange:
    old, new = _samples(series, before), _samples(series, after[-1:] if drift else after)
    first, second = (statistics.median(each) if each else None for each in (old, new))
    interval = None
    if len(old) > 1 and len(new) > 1 and min(old) > 0:
        one, other = median_interval(old), median_interval(new)
        interval = other.low / one.high, other.high / one.low
    unit = next(cell.unit for cell in series.cells if cell)
    return CellChange(series.name, series.dataset, unit, first, second, interval)


def _samples(series: CellSeries, points: Sequence[int]) -> list[float]:
    cells = [series.cells[point] for point in points]
    return [sample for cell in cells if cell and cell.value is not None for sample in cell.samples]


def _of_turn(turn: Turn, history: History, line: Line) -> Change:
    before, since = line.points[turn.before], line.points[turn.at]
    own, others = version_steps(history, turn.module, turn.format, before, since)
    operations = list(dict.fromkeys(each.group.operation.name for each in turn.cells))
    return Change(
        sort=Sort.GAINED if turn.gained else Sort.LOST,
        line=line,
        module=turn.module,
        format=turn.format,
        operation=operations[0] if len(operations) == 1 else "",
        verb=turn.status,
        ratio=None,
        before=before,
        since=since,
        cells=[_cell_change(each, [turn.before], [turn.at], drift=False) for each in turn.cells],
        datasets=list(dict.fromkeys(each.dataset for each in turn.cells)),
        own_steps=own,
        other_steps=others,
        reason=turn.reason,
    )


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
