"""What is asked of a series, and what is answered."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
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
