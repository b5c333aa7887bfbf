"""Input and result types of the change-point detector."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DetectorInput:
    """One series, and the classes of series that it is compared with."""

    levels: NDArray[np.float64]
    """Logarithms of the values, shape (points,); NaN where there is no value."""
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
