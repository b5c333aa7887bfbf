"""Noise model of a kind of series: moderated variances, and differences between processes.

A few points do not determine the variance of a series. So each variance is drawn to the common one of
its class, the more closely the less the variances of a kind scatter (G. K. Smyth, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments", Statistical
Applications in Genetics and Molecular Biology 3, 2004). Where some series vary far more than most, the
prior degrees of freedom stay few, and the tails of t heavy. The R package limma uses the same method.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.model import DetectorInput, contrasts

if TYPE_CHECKING:
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

# Size of a step that is taken out before a variance is estimated.
OBVIOUS_STANDARD_ERRORS = 6.0


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
    from scipy import stats  # type: ignore[import-untyped]

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
    usual = float(stats.f.ppf(0.5, own, freedom))
    return VariancePrior({name: median / usual for name, median in medians.items()}, freedom)


def _prior_freedom(ratio: float, freedom: float) -> float:
    """Return the second degrees of freedom that give F this ratio of `WILD_QUANTILE` to median."""
    from scipy import optimize, stats

    def excess(other: float) -> float:
        wild, median = stats.f.ppf([WILD_QUANTILE, 0.5], freedom, other)
        return float(wild / median) - ratio

    if excess(MOST_FREEDOM) >= 0:
        return MOST_FREEDOM
    if excess(LEAST_FREEDOM) <= 0:
        return LEAST_FREEDOM
    return float(optimize.brentq(excess, LEAST_FREEDOM, MOST_FREEDOM))


def sample_variances(levels: Sequence[NDArray[np.float64]]) -> list[SampleVariance]:
    """Return the variance of each of several series of one class, obvious steps taken out.

    Parameters
    ----------
    levels : sequence of arrays of float64, shape (points,)
        Two levels or more each, none of them NaN.
    """
    whole = [SampleVariance(float(each.var(ddof=1)), len(each) - 1) for each in levels]
    usual = float(np.median([each.value for each in whole])) + LEAST_DEVIATION**2
    # Were steps left in, many changes in one month would look like noise.
    return [_without_step(each, usual) or plain for each, plain in zip(levels, whole, strict=True)]


def _without_step(levels: NDArray[np.float64], usual: float) -> SampleVariance | None:
    """Return the variance beside an obvious step; None if the series has none."""
    if len(levels) < 4:  # noqa: PLR2004 (a step has two points on either side)
        return None
    found = contrasts(levels)
    # A single outlier is left in: noise looks like that.
    squares = np.where(found.fewest > 1, found.squares, np.inf)
    best = int(squares.argmin())
    obvious = abs(found.effect[best]) > OBVIOUS_STANDARD_ERRORS * (usual * found.weight[best]) ** 0.5
    freedom = len(levels) - 2
    return SampleVariance(float(squares[best]) / freedom, freedom) if obvious else None


@dataclass(frozen=True)
class ReplicateNoise:
    """Differences between the two processes of a point, over all points of many series."""

    differences: NDArray[np.float64]
    """Differences of logarithms in ascending order, shape (points of all series,)."""
    series: int
    """Number of the series."""
    level: float
    """Probability that both processes of any newest point deviate by chance."""

    @classmethod
    def from_replicates(cls, replicates: Sequence[NDArray[np.float64]], level: float) -> ReplicateNoise:
        """Return the noise of several series, given `DetectorInput.replicates` of each."""
        found = np.concatenate(replicates)
        differences = found[:, 1] - found[:, 0]
        return cls(np.sort(differences[~np.isnan(differences)]), len(replicates), level)

    def is_significant(self, deviation: float) -> bool:
        """Return True if chance would hardly make both processes of a newest point deviate so much.

        Where two processes differ by that much, one of them has deviated. So the share of such points is
        halved for one process and squared for both, and there are many series.
        """
        count = len(self.differences)
        larger = count - int(np.searchsorted(self.differences, deviation))
        # One is added to both: that a deviation was never seen does not make it impossible.
        probability = (larger + 1) / (count + 1) / 2
        return self.series * probability**2 <= self.level


@dataclass(frozen=True)
class NoiseModel:
    """Variation of the series of one kind."""

    variance: VariancePrior
    """From point to point."""
    replicates: ReplicateNoise
    """From process to process within a point."""


def fit_noise_models(inputs: Iterable[DetectorInput], level: float) -> dict[Hashable, NoiseModel]:
    """Return the model of each kind that has series of two points or more.

    Parameters
    ----------
    inputs : iterable of DetectorInput
        The series.
    level : float
        Probability of a false alarm, see `ReplicateNoise.level`.
    """
    kinds: dict[Hashable, list[DetectorInput]] = {}
    for each in inputs:
        if np.count_nonzero(~np.isnan(each.levels)) > 1:
            kinds.setdefault(each.kind, []).append(each)
    return {kind: _fit(found, level) for kind, found in kinds.items()}


def _fit(inputs: list[DetectorInput], level: float) -> NoiseModel:
    classes: dict[Hashable, list[NDArray[np.float64]]] = {}
    for each in inputs:
        classes.setdefault(each.variance_class, []).append(each.levels[~np.isnan(each.levels)])
    variances = {name: sample_variances(levels) for name, levels in classes.items()}
    return NoiseModel(
        fit_variance_prior(variances),
        ReplicateNoise.from_replicates([each.replicates for each in inputs], level),
    )
