"""Detected changes of each line of a history, found once for all pages and files."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.changes.change import CellChange, ChangeKind, FormatChange
from format_bench.changes.common_mode import (
    NOTABLE_SHIFT,
    CommonShift,
    Mode,
    common_shifts,
    mode_of,
    shifts_by_mode,
)
from format_bench.changes.group_changes import (
    AvailabilityChange,
    GroupChange,
    availability_changes,
    exact_changes,
    measured_changes,
)
from format_bench.changes.history import History, HistoryLine, version_steps
from format_bench.changes.series import CellSeries, cell_series
from format_bench.instruments.intervals import median_interval
from format_bench.results.metrics import Noise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Words for values that grew, and for values that shrank.
VERBS = {
    Noise.WALL_TIME: ("slower", "faster"),
    Noise.CPU_TIME: ("slower", "faster"),
    Noise.MEMORY: ("larger", "smaller"),
    Noise.SIZE: ("larger", "smaller"),
    Noise.EXACT: ("more", "fewer"),
}


@dataclass(frozen=True)
class LineChanges:
    """All changes of one line."""

    line: HistoryLine
    series: list[CellSeries]
    changes: list[FormatChange]
    """Confirmed changes, the newest first."""
    suspected: list[FormatChange]
    """Changes that a single process has seen at the newest point."""
    common_shifts: list[CommonShift]
    """Shifts of the machine as a whole, in order of time."""

    @property
    def newest(self) -> list[FormatChange]:
        """Changes that the newest point shows first."""
        return [each for each in self.changes if each.since is self.line.points[-1]]

    @property
    def earlier(self) -> list[FormatChange]:
        """All other confirmed changes."""
        return [each for each in self.changes if each.since is not self.line.points[-1]]


# Detection takes seconds, and several pages and files show the same changes.
@functools.lru_cache(maxsize=1)
def changes_by_line(history: History) -> list[LineChanges]:
    """Return the changes of each line, in the order of the lines.

    Parameters
    ----------
    history : History
        All results.
    """
    return [_line_changes(history, line) for line in history.lines]


def _line_changes(history: History, line: HistoryLine) -> LineChanges:
    series = cell_series(line)
    groups, shifts = [*measured_changes(series), *exact_changes(series)], shifts_by_mode(series)
    found = [_level_change(each, history, line, shifts) for each in groups]
    found += [_availability_change(each, history, line) for each in availability_changes(series)]
    # The sort is stable: changes of one point stay in the order of the suites.
    found.sort(key=lambda change: change.since.date, reverse=True)
    return LineChanges(
        line=line,
        series=series,
        changes=[each for each in found if each.kind is not ChangeKind.SUSPECTED],
        suspected=[each for each in found if each.kind is ChangeKind.SUSPECTED],
        common_shifts=common_shifts(line, series),
    )


def _level_change(
    found: GroupChange, history: History, line: HistoryLine, shifts: Mapping[Mode, NDArray[np.float64]]
) -> FormatChange:
    change, group = found.change, found.group
    before = line.points[change.before[-1]]
    since = line.points[change.after[-1] if change.drift else change.at]
    own, others = version_steps(history, group.module, group.format, before, since)
    # The end of a drift is its newest point; a step has a level on either side.
    after = change.after[-1:] if change.drift else change.after
    cells = [_cell_change(each, change.before, after) for each in found.cells]
    kind = ChangeKind.STEP if change.confirmed else ChangeKind.SUSPECTED
    ratio, common = _mean_ratio(cells), 1.0
    if (shift := shifts.get(mode_of(group))) is not None:
        moved = float(shift[list(after)].mean() - shift[list(change.before)].mean())
        common = math.exp(moved) if abs(moved) > NOTABLE_SHIFT else 1.0
    return FormatChange(
        kind=ChangeKind.DRIFT if change.drift else kind,
        line=line,
        module=group.module,
        format=group.format,
        operation=group.operation.name,
        verb=VERBS[group.operation.kind][change.effect < 0],
        ratio=ratio and ratio / common,
        before=before,
        since=since,
        cells=cells,
        datasets=list(dict.fromkeys(each.dataset for each in found.compared)),
        own_steps=own,
        other_steps=others,
        common_ratio=common,
    )


def _mean_ratio(cells: Sequence[CellChange]) -> float | None:
    """Return the geometric mean of the ratios of cells; None if one has a 0 or no value."""
    logarithms = [math.log(cell.after / cell.before) for cell in cells if cell.after and cell.before]
    return math.exp(statistics.fmean(logarithms)) if len(logarithms) == len(cells) > 0 else None


def _cell_change(series: CellSeries, before: Sequence[int], after: Sequence[int]) -> CellChange:
    old, new = _samples(series, before), _samples(series, after)
    first, second = (statistics.median(each) if each else None for each in (old, new))
    interval = None
    # Ends can be divided by each other only if they are positive; growths of memory may be 0.
    if len(old) > 1 and len(new) > 1 and min(old) > 0:
        one, other = median_interval(old), median_interval(new)
        interval = other.low / one.high, other.high / one.low
    unit = next(cell.unit for cell in series.cells if cell)
    return CellChange(series.name, series.dataset, unit, first, second, interval)


def _samples(series: CellSeries, points: Sequence[int]) -> list[float]:
    cells = [series.cells[point] for point in points]
    return [sample for cell in cells if cell and cell.value is not None for sample in cell.samples]


def _availability_change(found: AvailabilityChange, history: History, line: HistoryLine) -> FormatChange:
    before, since = line.points[found.before], line.points[found.at]
    own, others = version_steps(history, found.module, found.format, before, since)
    operations = list(dict.fromkeys(each.group.operation.name for each in found.cells))
    return FormatChange(
        kind=ChangeKind.GAINED if found.gained else ChangeKind.LOST,
        line=line,
        module=found.module,
        format=found.format,
        operation=operations[0] if len(operations) == 1 else "",
        verb=found.status,
        ratio=None,
        before=before,
        since=since,
        cells=[_cell_change(each, [found.before], [found.at]) for each in found.cells],
        datasets=list(dict.fromkeys(each.dataset for each in found.cells)),
        own_steps=own,
        other_steps=others,
        reason=found.reason,
    )
