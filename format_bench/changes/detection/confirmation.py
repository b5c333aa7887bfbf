"""Confirmation of steps and drifts against noise that comes in bursts.

Another program that runs for a while makes one process slower, or one month. Means and their standard
errors do not show that. So a change must also show where it is hardest: at the nearest points of both
sides, and in the process of each point that speaks against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.detection.model import ChangePoint, DetectorInput
    from format_bench.changes.detection.noise_model import ReplicateNoise

# One point of this many, on each side of a step, may be an exception.
POINTS_PER_EXCEPTION = 5

# Share of the effect that must remain between the nearest points.
LEAST_SHARE = 0.5

# Share of all pairs of points that must be in the order of a drift: Mann's statistic (H. B. Mann,
# "Nonparametric Tests Against Trend", Econometrica 13, 1945), which a single point cannot move far.
LEAST_CONCORDANCE = 0.8


def is_confirmed_step(step: ChangePoint, series: DetectorInput, noise: ReplicateNoise) -> bool:
    """Return True if both sides of a step are apart, point by point and process by process.

    A single point is one side of a step only if two processes have measured it, and if chance would
    hardly make both deviate alike.
    """
    upwards = step.effect > 0
    before = _against(series, step.before, largest=upwards)
    after = _against(series, step.after, largest=not upwards)
    if np.isnan(before).any() or np.isnan(after).any():
        return False
    sign = 1 if upwards else -1
    gap = _nearest(sign * after) + _nearest(-sign * before)
    least_gap = LEAST_SHARE * abs(step.effect)
    if gap <= least_gap:
        return False
    has_single_point = len(before) == 1 or len(after) == 1
    return not has_single_point or noise.is_significant(least_gap)


def is_confirmed_drift(drift: ChangePoint, series: DetectorInput) -> bool:
    """Return True if a drift goes on over all points and processes, not over a few outliers."""
    points = drift.before + drift.after
    levels = series.levels[list(points)]
    earlier, later = np.triu_indices(len(levels), 1)
    concordant = (levels[later] - levels[earlier]) * np.sign(drift.effect) > 0
    # Of each half the processes that speak against the drift, as for a step.
    upwards, middle = drift.effect > 0, len(points) // 2
    before = _against(series, points[:middle], largest=upwards)
    after = _against(series, points[middle:], largest=not upwards)
    usual = levels[middle:].mean() - levels[:middle].mean()
    remaining = (after.mean() - before.mean()) / usual
    return bool(concordant.mean() >= LEAST_CONCORDANCE and remaining >= LEAST_SHARE)


def _against(series: DetectorInput, points: tuple[int, ...], *, largest: bool) -> NDArray[np.float64]:
    """Return of each point the level of that process which speaks against a change.

    Points that a single process measured have their level, unless such a point is alone.
    """
    # The smaller process of each point is in column 0, the larger one in column 1.
    found = series.replicates[list(points), int(largest)]
    alone = len(points) == 1
    return found if alone else np.where(np.isnan(found), series.levels[list(points)], found)


def _nearest(values: NDArray[np.float64]) -> float:
    """Return the smallest value that is not an exception."""
    return float(np.sort(values)[len(values) // POINTS_PER_EXCEPTION])
