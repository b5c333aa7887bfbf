"""How much series vary from point to point, when each is too short to tell by itself.

G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments" (Statistical Applications in Genetics and Molecular Biology 3, 2004): the
variances of many series scatter around a common one like F; how closely says how much each is drawn to
it. Where some vary far more than most, the degrees of freedom stay few, and the tails of t heavy.

Smyth matches the moments of the variances' logarithms. Here quantiles are matched, above the median
alone: values that hardly ever vary would else make up for those that vary wildly.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.distributions import f_quantile, freedom_with

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 0.005
"""Standard deviation that is added to each, as a share: finer than this nothing is of interest."""

WILD = 0.9
"""The quantile that tells how much wilder than usual some series are: high, and yet not moved when a few
of them change."""

FEWEST = 6
"""Series of a class from which it has a variance of its own."""


@dataclass(frozen=True)
class Variance:
    """Of one series, as observed."""

    value: float
    freedom: int


@dataclass(frozen=True)
class Spread:
    """What many series tell of the variance of one of them."""

    variances: Mapping[Hashable, float]
    """The common variance of each class."""
    freedom: float
    """How many observations the common variance counts as."""

    def moderated(self, of: Hashable, squares: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
        """Return variances: from sums of squares of such freedom, and the common one of a class."""
        common = self.variances[of]
        return (self.freedom * common + squares + freedom * SMALLEST**2) / (self.freedom + freedom)


def spread_of(observed: Mapping[Hashable, Sequence[Variance]]) -> Spread:
    """Return the spread of series of one kind, by class: those that are alike."""
    rest = [each for found in observed.values() if len(found) < FEWEST for each in found]
    pools = {name: found if len(found) >= FEWEST else rest for name, found in observed.items()}
    medians = {
        name: float(np.median([each.value + SMALLEST**2 for each in pool]))
        for name, pool in pools.items()
    }
    beside_usual = [
        (each.value + SMALLEST**2) / medians[name] for name, found in observed.items() for each in found
    ]
    own = float(np.median([each.freedom for found in observed.values() for each in found]))
    freedom = freedom_with(float(np.quantile(beside_usual, WILD)), WILD, own)
    usual = f_quantile(0.5, own, freedom)
    return Spread({name: median / usual for name, median in medians.items()}, freedom)
