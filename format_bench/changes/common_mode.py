"""Common-mode correction: the shift that all formats share at a point is removed (median polish).

If everything is slower in a month, the reason is the machine, its system, or a library that all formats
share. The shift is the column effect of a two-way table of cells and points, which J. W. Tukey polishes
by medians (Exploratory Data Analysis, 1977). A minority of formats that change does not move it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection import ChangePoint, DetectorInput
from format_bench.changes.series import TIMES, CellSeries, FormatOperation, Operation
from format_bench.results.display.text import format_ratio
from format_bench.results.metrics import Noise
from format_bench.results.suites import qualified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.history import HistoryLine, Point

# Formats below which a change of one or two would be taken for the machine's.
FEWEST_FORMATS = 6

# Difference of logarithms above which a shift is named.
NOTABLE_SHIFT = math.log1p(Operation("", Noise.WALL_TIME).least_effect)

# Module of suites and operation: their cells are measured in turn, and share a shift.
Mode = tuple[str, str]


def common_shift(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median over all cells of their deviation at each point.

    Parameters
    ----------
    levels : array of float64, shape (cells, points)
        Logarithms of the values; NaN where a value is missing.

    Returns
    -------
    array of float64, shape (points,)
        Differences of logarithms; 0 at points without values.
    """
    usual = _medians(levels, axis=1)
    return np.nan_to_num(_medians(levels - usual[:, None], axis=0))


def _medians(levels: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return medians along an axis; NaN where all values are missing."""
    with warnings.catch_warnings():
        # A cell, or a month, may lack all values, of which NumPy warns.
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        return np.nanmedian(levels, axis=axis)


def shifts_by_mode(series: Sequence[CellSeries]) -> dict[Mode, NDArray[np.float64]]:
    """Return the common shift of times; memory and size do not depend on the state of the machine."""
    members: dict[Mode, list[CellSeries]] = {}
    for each in series:
        if each.group.operation.kind in TIMES:
            members.setdefault(mode_of(each.group), []).append(each)
    return {
        mode: common_shift(np.array([each.levels for each in found]))
        for mode, found in members.items()
        if len({each.group.format for each in found}) >= FEWEST_FORMATS
    }


def mode_of(group: FormatOperation) -> Mode:
    """Return the suite and the operation, whose formats share a shift."""
    return group.module, group.operation.name


@dataclass(frozen=True)
class CommonShift:
    """A point at which all formats of a suite were slower or faster than usual, by more than noise."""

    point: Point
    module: str
    operation: str
    ratio: float
    """Time relative to the median of all points; above 1 if slower."""

    def __str__(self) -> str:
        verb = "slower" if self.ratio > 1 else "faster"
        factor = format_ratio(max(self.ratio, 1 / self.ratio))
        formats = qualified("all formats", self.module)
        return f"{formats} {self.operation} {factor} times {verb} than usual"


def common_shifts(line: HistoryLine, series: Sequence[CellSeries]) -> list[CommonShift]:
    """Return the common shifts of a line in order of time."""
    found = [
        CommonShift(point, module, operation, math.exp(shift))
        for (module, operation), shifts in shifts_by_mode(series).items()
        for point, shift in zip(line.points, shifts.tolist(), strict=True)
        if abs(shift) > NOTABLE_SHIFT
    ]
    return sorted(found, key=lambda each: each.point.date)


@dataclass(frozen=True)
class AdjustedSeries:
    """Series of one cell after common-mode correction."""

    series: CellSeries
    levels: NDArray[np.float64]
    """Corrected `CellSeries.levels`, shape (points,)."""
    replicates: NDArray[np.float64]
    """Corrected `CellSeries.replicates`, shape (points, 2)."""
    least_effect: float
    """Smallest difference of logarithms that is of interest."""

    @property
    def name(self) -> tuple[str, ...]:
        """Name that no other cell of the line has."""
        return self.series.benchmark, self.series.group.format, self.series.name

    @property
    def has_values(self) -> bool:
        """True if there is a value at any point."""
        return not np.isnan(self.levels).all()

    def effect(self, change: ChangePoint) -> float:
        """Return the cell's own difference of logarithms between both sides of a change; or NaN."""
        return _mean(self.levels, change.after) - _mean(self.levels, change.before)

    def follows(self, change: ChangePoint) -> bool:
        """Return True if the cell changed in the same direction, by more than noise."""
        return bool(self.effect(change) * np.sign(change.effect) > self.least_effect)


def _mean(levels: NDArray[np.float64], points: Sequence[int]) -> float:
    values = levels[list(points)]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan


def adjusted_series(series: Sequence[CellSeries]) -> dict[FormatOperation, list[AdjustedSeries]]:
    """Return the corrected series of times and memory by format and operation, in their order."""
    shifts = shifts_by_mode(series)
    found: dict[FormatOperation, list[AdjustedSeries]] = {}
    for each in series:
        if each.group.operation.kind in (*TIMES, Noise.MEMORY):
            shift = shifts.get(mode_of(each.group), np.zeros(len(each.levels)))
            least = float(np.log1p(each.group.operation.least_effect))
            adjusted = AdjustedSeries(each, each.levels - shift, each.replicates - shift[:, None], least)
            found.setdefault(each.group, []).append(adjusted)
    return found


def cell_input(cell: AdjustedSeries) -> DetectorInput:
    """Return one cell as input of the detector."""
    return DetectorInput(
        levels=cell.levels,
        kind=cell.series.group.operation.kind,
        variance_class=("cell", *mode_of(cell.series.group)),
        least_effect=cell.least_effect,
        replicates=cell.replicates,
    )


def group_input(cells: list[AdjustedSeries]) -> DetectorInput:
    """Return the medians over all cells of an operation of a format as input of the detector."""
    group = cells[0].series.group
    # Cells differ in size, and some lack values at some points: each is taken beside its usual level.
    usual = [float(np.nanmedian(each.levels)) if each.has_values else np.nan for each in cells]
    levels = [each.levels - level for each, level in zip(cells, usual, strict=True)]
    replicates = [each.replicates - level for each, level in zip(cells, usual, strict=True)]
    return DetectorInput(
        levels=_medians(np.array(levels), axis=0),
        kind=group.operation.kind,
        variance_class=("group", group.module, group.operation.name),
        least_effect=cells[0].least_effect,
        replicates=_medians(np.array(replicates), axis=0),
    )
