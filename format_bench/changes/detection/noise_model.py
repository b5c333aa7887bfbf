"""Noise model of a kind of series, pooled over them: from point to point, and between processes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.variance import VariancePrior, fit_variance_prior, sample_variances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.detection.model import DetectorInput


@dataclass(frozen=True)
class ReplicateNoise:
    """Differences between the two processes of a point, over all points of many series."""

    differences: NDArray[np.float64]
    """Differences of logarithms in ascending order, shape (points of all series,)."""
    series: int
    """Number of the series."""
    level: float
    """Probability with which both processes of any newest point may deviate by chance."""

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
