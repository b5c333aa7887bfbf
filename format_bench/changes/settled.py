"""Whether a step is more than some points that stand out.

Means and their errors say little of noise that comes in bursts: something else that runs for a while
makes one process slower, or one month, and goes. So a step must also show where it is hardest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.question import Question, Shift

EXCEPTIONS = 5
"""One point of so many, on each side, may be an exception."""

SHARE = 0.5
"""Of the effect, how much must be left between the points that are nearest."""


def settled(shift: Shift, question: Question) -> bool:
    """Tell whether both sides of a step are apart, point by point and process by process.

    Of each point stands that process which speaks against the step. A point that a single process has
    measured cannot be one side alone.
    """
    slower = shift.effect > 0
    before = _against(question, shift.before, highest=slower)
    after = _against(question, shift.after, highest=not slower)
    if np.isnan(before).any() or np.isnan(after).any():
        return False
    sign = 1 if slower else -1
    gap = _nearest(sign * after) + _nearest(-sign * before)
    return bool(gap > max(SHARE * abs(shift.effect), 0.0))


def _against(question: Question, points: tuple[int, ...], *, highest: bool) -> NDArray[np.float64]:
    found = question.halves[list(points), int(highest)]
    alone = len(points) == 1
    return found if alone else np.where(np.isnan(found), question.levels[list(points)], found)


def _nearest(values: NDArray[np.float64]) -> float:
    """Return the smallest value that is no exception."""
    return float(np.sort(values)[len(values) // EXCEPTIONS])
