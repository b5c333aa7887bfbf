"""Data of the change-point detector: the input series, the candidate changes of each, and the result."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Points below which a drift and a step look alike.
FEWEST_FOR_DRIFT = 5


@dataclass(frozen=True)
class DetectorInput:
    """One series, and the classes of series that it is compared with."""

    levels: NDArray[np.float64]
    """Logarithms of the values, shape (points,); NaN where a value is missing."""
    kind: Hashable
    """Series of one kind have variances that scatter alike, and share a `NoiseModel`."""
    variance_class: Hashable
    """Series of one kind and class have a common variance."""
    least_effect: float
    """Smallest difference of logarithms that is of interest."""
    replicates: NDArray[np.float64]
    """Logarithms of the medians of two processes at each point, the smaller first, shape (points, 2);
    NaN where a single process measured."""

    @property
    def newest(self) -> int:
        """Number of the newest point."""
        return len(self.levels) - 1


@dataclass(frozen=True)
class ChangePoint:
    """A change of level in one series: a step at one point, or a drift over all points."""

    before: tuple[int, ...]
    """Points with the level before; of a drift, the first alone."""
    after: tuple[int, ...]
    """Points with the level after; of a drift, all but the first."""
    drift: bool
    effect: float
    """Difference of the logarithms, after less before."""
    confirmed: bool
    """True if more than one process has shown it on either side."""

    @property
    def at(self) -> int:
        """Number of the first point that shows the change."""
        return self.after[0]


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
    # The slope has the variance 1 / sum(places**2), and the effect is the slope times the span.
    weight = span**2 / float(places @ places)
    return 1, True, slope * span, float(left @ left), weight, len(levels)
