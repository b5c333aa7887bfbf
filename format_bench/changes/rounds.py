"""How often one process of a point has seen what the other has not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
