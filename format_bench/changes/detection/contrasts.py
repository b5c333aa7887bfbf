"""Contrasts of a series: effects and residuals of a step at each point, and of a drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_FOR_DRIFT = 5
"""Points below which a drift and a step look alike."""


@dataclass(frozen=True)
class Contrasts:
    """Candidate changes of one series: a step at each point but the first, then a drift.

    All arrays have the shape (contrasts,). Series of fewer than `FEWEST_FOR_DRIFT` points have no drift.
    """

    at: NDArray[np.int64]
    """First point after a step; of a drift, the second of all points."""
    drift: NDArray[np.bool_]
    effect: NDArray[np.float64]
    """Difference of the levels; of a drift, from the first point to the last."""
    squares: NDArray[np.float64]
    """Residual sum of squares."""
    weight: NDArray[np.float64]
    """Variance of the effect if points have variance 1."""
    fewest: NDArray[np.int64]
    """Points on the shorter side of a step; of a drift, all."""


def contrasts(levels: NDArray[np.float64]) -> Contrasts:
    """Return all contrasts of a series.

    Parameters
    ----------
    levels : array of float64, shape (points,)
        Two levels or more, none of them NaN.
    """
    steps = _steps(levels)
    if len(levels) < FEWEST_FOR_DRIFT:
        return Contrasts(*steps)
    drift = _drift(levels)
    return Contrasts(*(np.append(some, other) for some, other in zip(steps, drift, strict=True)))


def _steps(levels: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    count = len(levels)
    at = np.arange(1, count)
    # Sums of squares are differences of large numbers unless the levels are around 0.
    around = levels - levels.mean()
    before = np.cumsum(around)[:-1]
    after = -before
    explained = before**2 / at + after**2 / (count - at)
    # Rounding can leave a small negative number where a step explains everything.
    squares = np.maximum(around @ around - explained, 0.0)
    return (
        at,
        np.zeros(count - 1, dtype=bool),
        after / (count - at) - before / at,
        squares,
        1 / at + 1 / (count - at),
        np.minimum(at, count - at),
    )


def _drift(levels: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the contrast of a straight line through all points, fitted by least squares."""
    span = len(levels) - 1
    places = np.arange(len(levels)) - span / 2
    slope = float(places @ levels / (places @ places))
    left = levels - levels.mean() - slope * places
    weight = span**2 / float(places @ places)
    return 1, True, slope * span, float(left @ left), weight, len(levels)
