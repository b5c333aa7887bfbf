"""How much series vary from point to point, when each is too short to tell by itself.

G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments" (Statistical Applications in Genetics and Molecular Biology 3, 2004): the
variances of many series scatter around a common one; how closely is estimated from all of them, and says
how much each is drawn to it. Where they scatter widely the degrees of freedom stay few, and the tails of
t heavy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.distributions import freedom_of, log_variance_mean, log_variance_scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 0.005
"""Standard deviation that is added to each, as a share: finer than this nothing is of interest, and
values that hardly ever vary would make all others look wild."""

MOST_FREEDOM = 60.0
"""Degrees of freedom beyond which t is normal for all that matters here."""

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
    """Return the spread of series, by class: those that are alike in kind."""
    rest = [each for found in observed.values() if len(found) < FEWEST for each in found]
    pools = {name: found if len(found) >= FEWEST else rest for name, found in observed.items()}
    scores = {name: np.array([_score(each) for each in pool]) for name, pool in pools.items()}
    excess = [
        (score - scores[name].mean()) ** 2 * len(pool) / max(1, len(pool) - 1)
        - log_variance_scatter(each.freedom)
        for name, pool in pools.items()
        for score, each in zip(scores[name], pool, strict=True)
    ]
    freedom = freedom_of(float(np.mean(excess)), most=MOST_FREEDOM) if excess else MOST_FREEDOM
    bias = log_variance_mean(freedom)
    return Spread({name: float(np.exp(found.mean() + bias)) for name, found in scores.items()}, freedom)


def _score(observed: Variance) -> float:
    """Return the logarithm of a variance, less what is expected of chance."""
    return math.log(observed.value + SMALLEST**2) - log_variance_mean(observed.freedom)
