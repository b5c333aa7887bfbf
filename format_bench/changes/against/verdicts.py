"""Verdicts on pairs of cells that were measured in turn, round by round.

Both sides of a round are measured one after the other, each in a process of its own, so that a machine
that drifts moves both. The differences of their logarithms, one for each round, are judged by their
trimmed mean and a t test for it (J. W. Tukey, D. H. McLaughlin: "Less vulnerable confidence and
significance procedures for location based on a single sample", Sankhya A 25, 1963), since other work on
the machine disturbs single rounds. Variances are moderated (`format_bench.results.variances`). Holm's
procedure bounds the probability of any false alarm in a comparison by `LEVEL`, as it does for histories.
Sizes and counts hardly vary; any difference of all rounds beyond `LEAST_EFFECTS` is a change.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection import LEAST_SHARE, POINTS_PER_EXCEPTION, holm_threshold
from format_bench.changes.group_changes import LEVEL
from format_bench.changes.series import LEAST_EFFECTS, MEMORY_OFFSET_BYTES
from format_bench.changes.summary import VERBS
from format_bench.instruments.intervals import CONFIDENCE
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.variances import SampleVariance, VariancePrior, fit_variance_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.results.records import Record

# Rounds below which a variance says nothing; a cell with fewer has no verdict.
FEWEST_ROUNDS = 3

# Cells whose variances say how variances scatter; fewer keep their own.
FEWEST_CELLS = 6


class Verdict(StrEnum):
    """Verdict on a pair of cells."""

    CHANGED = "changed"
    """Beyond noise."""
    SAME = "same"
    UNCLEAR = "unclear"
    """Too few rounds, or a value that has no logarithm."""
    LOST = "lost"
    """The later version has no value."""
    GAINED = "gained"


@dataclass(frozen=True)
class JudgedPair:
    """A cell measured with both versions, and its verdict."""

    before: Record
    after: Record
    verdict: Verdict
    ratio: float | None = None
    """After / before, the trimmed geometric mean over the rounds; None without two values above 0."""
    interval: tuple[float, float] | None = None
    """Interval of the ratio with 95 %; None for sizes and counts, and for too few rounds."""

    @property
    def effect(self) -> float:
        """Absolute logarithm of the ratio; infinite where there is none."""
        return abs(math.log(self.ratio)) if self.ratio else math.inf

    @property
    def is_empty(self) -> bool:
        """Whether neither version has a value."""
        return self.before.value is None and self.after.value is None

    @property
    def word(self) -> str:
        """The verdict with its direction, e.g. "slower"."""
        if self.verdict is not Verdict.CHANGED:
            return str(self.verdict)
        grew, shrank = VERBS[METRICS[self.after.metric].noise]
        return grew if self._grew else shrank

    @property
    def is_worse(self) -> bool:
        """Whether the later version lost a value, or needs more."""
        return self.verdict is Verdict.LOST or (self.verdict is Verdict.CHANGED and self._grew)

    @property
    def _grew(self) -> bool:
        # Medians of all samples may go the other way, where one side of a round was disturbed.
        return self.ratio > 1 if self.ratio else (self.after.value or 0.0) > (self.before.value or 0.0)

    @property
    def changed(self) -> bool:
        """Whether anything but noise differs."""
        return self.verdict in {Verdict.CHANGED, Verdict.LOST, Verdict.GAINED}


@dataclass(frozen=True)
class _Test:
    """Paired t test of one cell, for the trimmed mean of the differences of its rounds."""

    kind: Measure
    values: NDArray[np.float64]
    """Differences of logarithms, a round each, in ascending order."""
    prior: VariancePrior | None = None
    """Of the variances of all cells of the same noise; None of too few."""

    @property
    def trimmed(self) -> int:
        """Rounds that are left out at either end."""
        return len(self.values) // POINTS_PER_EXCEPTION

    @property
    def kept(self) -> int:
        return len(self.values) - 2 * self.trimmed

    @property
    def effect(self) -> float:
        return float(self.values[self.trimmed : self.trimmed + self.kept].mean())

    @property
    def variance(self) -> SampleVariance:
        """Variance of which the trimmed mean has the part of one by the kept rounds."""
        ends = self.values[self.trimmed], self.values[-1 - self.trimmed]
        drawn_in = np.clip(self.values, *ends).var(ddof=1)
        freedom = self.kept - 1
        return SampleVariance(float(drawn_in) * (len(self.values) - 1) / freedom, freedom)

    @cached_property
    def moderated(self) -> tuple[float, float]:
        """The variance, drawn towards that of the other cells, and its degrees of freedom."""
        own = self.variance
        if self.prior is None:
            return own.value, own.freedom
        (value,) = self.prior.moderated(self.kind, np.array([own.value * own.freedom]), own.freedom)
        return float(value), self.prior.freedom + own.freedom

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.moderated[0] / self.kept)

    @property
    def p(self) -> float:
        from scipy import special  # type: ignore[import-untyped]

        if not self.standard_error:
            return 0.0 if self.effect else 1.0
        return 2 * float(special.stdtr(self.moderated[1], -abs(self.effect) / self.standard_error))

    @property
    def interval(self) -> tuple[float, float]:
        from scipy import special

        quantile = float(special.stdtrit(self.moderated[1], (1 + CONFIDENCE) / 2))
        half = quantile * self.standard_error
        return math.exp(self.effect - half), math.exp(self.effect + half)

    def is_confirmed(self) -> bool:
        """Return whether most rounds show half of the effect: bursts of other work move few."""
        along = np.sort(np.sign(self.effect) * self.values)
        return bool(along[len(along) // POINTS_PER_EXCEPTION] >= LEAST_SHARE * abs(self.effect))


def judge(pairs: Iterable[tuple[Record, Record]]) -> list[JudgedPair]:
    """Return the verdict on each pair of records of one cell, the earlier version's first."""
    pairs = list(pairs)
    tests = _moderated(
        {number: found for number, pair in enumerate(pairs) if (found := _test(*pair)) is not None}
    )
    p_values = [each.p for each in tests.values()]
    threshold = holm_threshold(p_values, len(p_values), LEVEL) if p_values else -1.0
    return [
        _of_test(before, after, tests[number], threshold)
        if number in tests
        else _without_test(before, after)
        for number, (before, after) in enumerate(pairs)
    ]


def _test(before: Record, after: Record) -> _Test | None:
    """Return the test of a cell; None where there are too few rounds, or one has no logarithm."""
    rounds = [_levels(each) for each in (before, after)]
    if Measure.of(after).is_exact or len({len(each) for each in rounds}) > 1:
        return None
    found = np.sort(np.array(rounds[1]) - np.array(rounds[0]))
    if len(found) < FEWEST_ROUNDS or not np.isfinite(found).all():
        return None
    return _Test(Measure.of(after)._replace(query=""), found)


def _levels(record: Record) -> list[float]:
    offset = MEMORY_OFFSET_BYTES if METRICS[record.metric].noise is Noise.MEMORY else 0
    medians = [statistics.median(each) + offset for each in record.repeats_by_round if each]
    return [math.log(each) if each > 0 else math.nan for each in medians]


def _moderated(cells: dict[int, _Test]) -> dict[int, _Test]:
    """Return tests by number with a prior of their variances: times and memory have one each."""
    by_noise: dict[Noise, list[_Test]] = {}
    for each in cells.values():
        by_noise.setdefault(METRICS[each.kind.metric].noise, []).append(each)
    priors = {noise: _prior(tests) for noise, tests in by_noise.items()}
    return {
        number: replace(each, prior=priors[METRICS[each.kind.metric].noise])
        for number, each in cells.items()
    }


def _prior(cells: Collection[_Test]) -> VariancePrior | None:
    if len(cells) < FEWEST_CELLS:
        return None
    classes: dict[Hashable, list[SampleVariance]] = {}
    for each in cells:
        classes.setdefault(each.kind, []).append(each.variance)
    return fit_variance_prior(classes)


def _of_test(before: Record, after: Record, test: _Test, threshold: float) -> JudgedPair:
    least = math.log1p(LEAST_EFFECTS[METRICS[after.metric].noise])
    changed = test.p <= threshold and abs(test.effect) > least and test.is_confirmed()
    verdict = Verdict.CHANGED if changed else Verdict.SAME
    return JudgedPair(before, after, verdict, math.exp(test.effect), test.interval)


def _without_test(before: Record, after: Record) -> JudgedPair:
    if before.value is None or after.value is None:
        if before.value is after.value:
            return JudgedPair(before, after, Verdict.SAME)
        return JudgedPair(before, after, Verdict.LOST if after.value is None else Verdict.GAINED)
    ratio = after.value / before.value if before.value and after.value else None
    found = JudgedPair(before, after, Verdict.UNCLEAR, ratio)
    if not Measure.of(after).is_exact:
        return found
    least = math.log1p(LEAST_EFFECTS[METRICS[after.metric].noise])
    # All rounds: a database that several threads fill has not always as many pages.
    lower, upper = sorted((before.repeats, after.repeats), key=min)
    changed = max(lower) < min(upper) and found.effect > least
    return replace(found, verdict=Verdict.CHANGED if changed else Verdict.SAME)


def half_width(pairs: Sequence[JudgedPair]) -> float | None:
    """Return the median half width of the intervals, as a share; None without any."""
    widths = [
        math.sqrt(high / low) - 1 for low, high in (each.interval for each in pairs if each.interval)
    ]
    return statistics.median(widths) if widths else None
