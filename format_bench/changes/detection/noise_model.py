"""Noise model of a kind of series: moderated variances, and differences between processes.

A few points do not determine the variance of a series, so it is moderated
(`format_bench.results.variances`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.model import DetectorInput, contrasts
from format_bench.results.variances import (
    LEAST_DEVIATION,
    SampleVariance,
    VariancePrior,
    fit_variance_prior,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Size of a step that is taken out before a variance is estimated.
OBVIOUS_STANDARD_ERRORS = 6.0


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
    """Return the variance beside an obvious step; None without one."""
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
