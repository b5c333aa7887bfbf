"""What is asked of a series, and what is answered.

How one series may have changed: a step at some point, or a drift over all of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Shift:
    """A change of one series, between points that have values."""

    before: tuple[int, ...]
    """The points with the state before; of a drift, the first alone."""
    after: tuple[int, ...]
    """The points with the state after, the first of which shows it; of a drift, all but the first."""
    drift: bool
    effect: float
    """Difference of the logarithms."""
    confirmed: bool
    """Whether it rests on more than one process on either side."""


@dataclass(frozen=True)
class Question:
    """One series of which is asked whether it has changed."""

    levels: NDArray[np.float64]
    """Shape (points,); not a number where there is no value."""
    kind: Hashable
    """The series of one kind have variances that scatter alike."""
    alike: Hashable
    """The series of one kind with the same here vary alike."""
    least_effect: float
    """Difference of the logarithms that is of interest."""
    halves: NDArray[np.float64]
    """What two processes of each point have shown, the smaller first, shape (points, 2); not a number
    where there was one process."""


FEWEST_FOR_DRIFT = 5
"""Points below which a drift cannot be told from a step."""


@dataclass(frozen=True)
class Contrasts:
    """The ways in which a series may have changed: a step at each point, at last perhaps a drift.

    All arrays have the shape (contrasts,).
    """

    at: NDArray[np.int64]
    """The first point after a step; of a drift, the second of all points."""
    drift: NDArray[np.bool_]
    effect: NDArray[np.float64]
    """By how much the level has changed; of a drift, from the first point to the last."""
    squares: NDArray[np.float64]
    """Sum of the squares that each leaves unexplained."""
    weight: NDArray[np.float64]
    """The variance of the effect, for points of variance 1."""
    fewest: NDArray[np.int64]
    """Points on the shorter side of a step; of a drift, all."""


def contrasts(levels: NDArray[np.float64]) -> Contrasts:
    """Return all contrasts of a series of two levels or more, shape (points,), none missing."""
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
    span = len(levels) - 1
    places = np.arange(len(levels)) - span / 2
    slope = float(places @ levels / (places @ places))
    left = levels - levels.mean() - slope * places
    weight = span**2 / float(places @ places)
    return 1, True, slope * span, float(left @ left), weight, len(levels)
