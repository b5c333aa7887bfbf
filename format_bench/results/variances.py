"""Moderated variances of many quantities that have few values each.

A few values do not determine a variance. So each variance is drawn to the common one of its class, the
more closely the less the variances of a kind scatter (G. K. Smyth, "Linear models and empirical Bayes
methods for assessing differential expression in microarray experiments", Statistical Applications in
Genetics and Molecular Biology 3, 2004). Where some quantities vary far more than most, the prior degrees
of freedom stay few, and the tails of t heavy. The R package limma uses the same method.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Limits of the prior degrees of freedom: below, t is hardly bounded; above, it is nearly normal.
LEAST_FREEDOM, MOST_FREEDOM = 0.5, 60.0

# Standard deviation, as a share, that is added to each: changes finer than this are of no interest.
LEAST_DEVIATION = 0.005

# Quantile of the variances that determines the prior degrees of freedom: high, and yet not moved when a
# few series change.
WILD_QUANTILE = 0.9

# Fewest series of a class with a common variance of its own; smaller classes share one.
FEWEST_SERIES = 6


@dataclass(frozen=True)
class SampleVariance:
    """Observed variance of one series."""

    value: float
    freedom: int
    """Degrees of freedom."""


@dataclass(frozen=True)
class VariancePrior:
    """Distribution of the variances of one kind of series: scaled inverse chi-squared, as in limma."""

    variances: Mapping[Hashable, float]
    """Common variance of each class."""
    freedom: float
    """Degrees of freedom that the common variance counts for."""

    def moderated(
        self, variance_class: Hashable, squares: NDArray[np.float64], freedom: int
    ) -> NDArray[np.float64]:
        """Return posterior variances, given residual sums of squares and their degrees of freedom."""
        common = self.variances[variance_class]
        observed = squares + freedom * LEAST_DEVIATION**2
        return (self.freedom * common + observed) / (self.freedom + freedom)


def fit_variance_prior(classes: Mapping[Hashable, Sequence[SampleVariance]]) -> VariancePrior:
    """Return the prior of series of one kind, given their variances by class.

    Smyth matches the moments of the variances' logarithms. Here quantiles are matched, from the median
    upwards: values that hardly ever vary would otherwise make up for those that vary wildly.
    """
    import numpy as np
    from scipy import special  # type: ignore[import-untyped]

    rest = [each for found in classes.values() if len(found) < FEWEST_SERIES for each in found]
    pools = {name: found if len(found) >= FEWEST_SERIES else rest for name, found in classes.items()}
    medians = {
        name: float(np.median([each.value + LEAST_DEVIATION**2 for each in pool]))
        for name, pool in pools.items()
    }
    relative = [
        (each.value + LEAST_DEVIATION**2) / medians[name]
        for name, found in classes.items()
        for each in found
    ]
    own = float(np.median([each.freedom for found in classes.values() for each in found]))
    freedom = _prior_freedom(float(np.quantile(relative, WILD_QUANTILE)), own)
    # Sample variances are distributed like F times the common one, so their median is F's.
    usual = float(special.fdtri(own, freedom, 0.5))
    return VariancePrior({name: median / usual for name, median in medians.items()}, freedom)


def _prior_freedom(ratio: float, freedom: float) -> float:
    """Return the second degrees of freedom that give F this ratio of `WILD_QUANTILE` to median."""
    # Not scipy.stats and scipy.optimize, whose imports take a second.
    import numpy as np
    from scipy import special

    others = np.geomspace(MOST_FREEDOM, LEAST_FREEDOM, 500)
    ratios = special.fdtri(freedom, others, WILD_QUANTILE) / special.fdtri(freedom, others, 0.5)
    return float(np.interp(ratio, ratios, others))
