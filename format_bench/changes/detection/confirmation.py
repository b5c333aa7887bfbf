"""Whether a step is more than some points that stand out.

Means and their errors say little of noise that comes in bursts: something else that runs for a while
makes one process slower, or one month, and goes. So a step must also show where it is hardest.

How often one process of a point has seen what the other has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.detection.model import Question, Shift


EXCEPTIONS = 5
"""One point of so many, on each side, may be an exception."""

SHARE = 0.5
"""Of the effect, how much must be left between the points that are nearest."""


CONCORDANT = 0.8
"""Of all pairs of points, how many must be in the order of a drift. Mann's statistic (H. B. Mann,
"Nonparametric Tests Against Trend", Econometrica 13, 1945), which a single point cannot move far."""


def settled(shift: Shift, question: Question, rounds: Rounds) -> bool:
    """Tell whether both sides of a step are apart, point by point and process by process.

    Of each point stands that process which speaks against the step. A point can be one side alone if two
    processes have measured it, and if it is no chance that they deviate alike.
    """
    slower = shift.effect > 0
    before = _against(question, shift.before, highest=slower)
    after = _against(question, shift.after, highest=not slower)
    if np.isnan(before).any() or np.isnan(after).any():
        return False
    sign = 1 if slower else -1
    gap = _nearest(sign * after) + _nearest(-sign * before)
    alone = len(before) == 1 or len(after) == 1
    apart = bool(gap > SHARE * abs(shift.effect))
    return apart and (not alone or rounds.agree(SHARE * abs(shift.effect)))


def steady(shift: Shift, question: Question) -> bool:
    """Tell whether a drift is one all the way, and of all processes, not some that stand out."""
    points = shift.before + shift.after
    levels = question.levels[list(points)]
    earlier, later = np.triu_indices(len(levels), 1)
    ordered = (levels[later] - levels[earlier]) * np.sign(shift.effect) > 0
    slower, middle = shift.effect > 0, len(points) // 2
    before = _against(question, points[:middle], highest=slower)
    after = _against(question, points[middle:], highest=not slower)
    usual = levels[middle:].mean() - levels[:middle].mean()
    left = (after.mean() - before.mean()) / usual
    return bool(ordered.mean() >= CONCORDANT and left >= SHARE)


def _against(question: Question, points: tuple[int, ...], *, highest: bool) -> NDArray[np.float64]:
    found = question.halves[list(points), int(highest)]
    alone = len(points) == 1
    return found if alone else np.where(np.isnan(found), question.levels[list(points)], found)


def _nearest(values: NDArray[np.float64]) -> float:
    """Return the smallest value that is no exception."""
    return float(np.sort(values)[len(values) // EXCEPTIONS])


@dataclass(frozen=True)
class Rounds:
    """The differences between both processes of points, of many series."""

    differences: NDArray[np.float64]
    """Of the logarithms, in ascending order, shape (points of all series,)."""
    series: int
    level: float
    """The probability with which both processes of any newest point may deviate by chance."""

    @classmethod
    def of(cls, halves: Sequence[NDArray[np.float64]], level: float) -> Rounds:
        """Return the rounds of series, given what both processes of each point have shown."""
        found = np.concatenate(halves)
        differences = found[:, 1] - found[:, 0]
        return cls(np.sort(differences[~np.isnan(differences)]), len(halves), level)

    def agree(self, deviation: float) -> bool:
        """Tell whether it would be no chance that both processes of a point deviate so much.

        As often as they have been so far apart, one of both has deviated; that both do in the same point
        of one series is that probability's half squared, and there are many series.
        """
        count = len(self.differences)
        larger = count - int(np.searchsorted(self.differences, deviation))
        probability = (larger + 1) / (count + 1) / 2
        return self.series * probability**2 <= self.level
