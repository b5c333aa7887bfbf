"""Noise of times and memory: the difference from another run that chance explains.

Samples of one process resemble each other more than samples of two (`format-bench study samples`), so
noise is the difference between the rounds of a cell, each with a process of its own and a time of
its own in the run. Two or three rounds do not determine a variance: it is moderated by the variances of
all cells of the same kind (`format_bench.results.variances`).
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.metrics import METRICS, Noise
from format_bench.results.records import Record, key
from format_bench.results.variances import SampleVariance, VariancePrior, fit_variance_prior

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Share of differences between two runs that noise exceeds.
CONFIDENCE = 0.95

# Fewest cells with two rounds that say how variances are distributed.
FEWEST_CELLS = 6


_NOISY = {Noise.WALL_TIME, Noise.CPU_TIME, Noise.MEMORY}


class RunNoise:
    """Noise of the times and growths of memory of some results.

    The logarithms of the medians of a cell's rounds have the moderated variance v. The value of a cell
    with n rounds has v / n then, and the difference of two such values 2 v / n. The noise is the bound
    of the absolute difference by Student's t, a prediction interval for another run measured alike. It
    is at least the difference between the cell's own rounds.

    Parameters
    ----------
    records : iterable of Record
        All records of the results.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        # A value of 0 has no logarithm.
        noisy = [each for each in records if each.value and METRICS[each.metric].noise in _NOISY]
        self._levels = {key(each): levels for each in noisy if (levels := _levels_of(each)) is not None}
        self._kinds = {key(each): _kind(each) for each in noisy}

    def of_cell(self, record: Record) -> float | None:
        """Return the noise as a share of the smaller of two values; None if it is not known.

        That is so for sizes and counts, where the rounds of the samples were not recorded, and where too
        few cells have two rounds.
        """
        levels, prior = self._levels.get(key(record)), self._priors.get(METRICS[record.metric].noise)
        if levels is None or prior is None or self._kinds[key(record)] not in prior.variances:
            return None
        import numpy as np
        from scipy import special  # type: ignore[import-untyped]

        squares = np.array([np.sum((levels - levels.mean()) ** 2)])
        (variance,) = prior.moderated(self._kinds[key(record)], squares, len(levels) - 1)
        bound = special.stdtrit(prior.freedom + len(levels) - 1, (1 + CONFIDENCE) / 2)
        difference = bound * (2 * variance / len(levels)) ** 0.5
        # A single cell that is far noisier than its kind would be drawn too closely to it.
        return float(np.expm1(max(difference, np.ptp(levels))))

    @cached_property
    def _priors(self) -> dict[Noise, VariancePrior]:
        classes: dict[Noise, dict[Hashable, list[SampleVariance]]] = {}
        for cell, levels in self._levels.items():
            if len(levels) > 1:
                found = SampleVariance(float(levels.var(ddof=1)), len(levels) - 1)
                kind = self._kinds[cell]
                # Apart: memory that flips between levels says nothing of times.
                classes.setdefault(METRICS[kind.metric].noise, {}).setdefault(kind, []).append(found)
        return {
            noise: fit_variance_prior(found)
            for noise, found in classes.items()
            if sum(map(len, found.values())) >= FEWEST_CELLS
        }


def is_wall_time(record: Record) -> bool:
    """Return whether the values of a record are durations of calls."""
    return METRICS[record.metric].noise is Noise.WALL_TIME


def _levels_of(record: Record) -> NDArray[np.float64] | None:
    """Return the logarithms of the medians of the rounds; None if they are not known."""
    import numpy as np

    rounds = [each for each in record.repeats_by_round if each]
    medians = [statistics.median(each) for each in rounds]
    return np.log(medians) if medians and min(medians) > 0 else None


class _Kind(NamedTuple):
    """Common property of cells whose variances are drawn to each other."""

    suite: str
    metric: str
    cache: str | None
    medium: str


def _kind(record: Record) -> _Kind:
    return _Kind(record.suite.partition(".")[0], record.metric, record.cache, record.medium)
