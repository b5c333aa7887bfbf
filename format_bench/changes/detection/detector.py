"""Change-point detector: binary segmentation of many series, with a bound on false alarms over all.

Each series is split at its most significant contrast, then its parts are, as long as that is significant
(A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of variance",
Biometrics 30, 1974). Contrasts are judged by t with moderated variances; over the contrasts of a series
by Bonferroni's bound, over all series after S. Holm, "A simple sequentially rejective multiple test
procedure" (Scandinavian Journal of Statistics 6, 1979). That bounds the probability of any false alarm.
To bound the share of false alarms instead would be wrong here: one regression shows in many series, and
so many true alarms would allow for a false one beside them.

Steps and drifts are confirmed against noise that comes in bursts. Another program that runs for a while
makes one process slower, or one month. Means and their standard errors do not show that. So a change
must also show where it is hardest: at the nearest points of both sides, and in the process of each point
that speaks against it.

A few points do not determine the variance of a series, so it is moderated
(`format_bench.results.variances`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.model import ChangePoint, Contrasts, DetectorInput, contrasts
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


# One point of this many, on each side of a step, may be an exception.
POINTS_PER_EXCEPTION = 5

# Share of the effect that must remain between the nearest points.
LEAST_SHARE = 0.5

# Share of all pairs of points that must be in the order of a drift: Mann's statistic (H. B. Mann,
# "Nonparametric Tests Against Trend", Econometrica 13, 1945), which a single point cannot move far.
LEAST_CONCORDANCE = 0.8


def is_confirmed_step(step: ChangePoint, series: DetectorInput, noise: ReplicateNoise) -> bool:
    """Return True if both sides of a step are apart, point by point and process by process.

    A single point is one side of a step only if two processes have measured it, and if chance would
    hardly make both deviate alike.
    """
    upwards = step.effect > 0
    before = _against(series, step.before, largest=upwards)
    after = _against(series, step.after, largest=not upwards)
    if np.isnan(before).any() or np.isnan(after).any():
        return False
    sign = 1 if upwards else -1
    gap = _nearest(sign * after) + _nearest(-sign * before)
    least_gap = LEAST_SHARE * abs(step.effect)
    if gap <= least_gap:
        return False
    has_single_point = len(before) == 1 or len(after) == 1
    return not has_single_point or noise.is_significant(least_gap)


def is_confirmed_drift(drift: ChangePoint, series: DetectorInput) -> bool:
    """Return True if a drift goes on over all points and processes, not over a few outliers."""
    points = drift.before + drift.after
    levels = series.levels[list(points)]
    earlier, later = np.triu_indices(len(levels), 1)
    concordant = (levels[later] - levels[earlier]) * np.sign(drift.effect) > 0
    # Of each half the processes that speak against the drift, as for a step.
    upwards, middle = drift.effect > 0, len(points) // 2
    before = _against(series, points[:middle], largest=upwards)
    after = _against(series, points[middle:], largest=not upwards)
    usual = levels[middle:].mean() - levels[:middle].mean()
    remaining = (after.mean() - before.mean()) / usual
    return bool(concordant.mean() >= LEAST_CONCORDANCE and remaining >= LEAST_SHARE)


def _against(series: DetectorInput, points: tuple[int, ...], *, largest: bool) -> NDArray[np.float64]:
    """Return of each point the level of that process which speaks against a change.

    Points that a single process measured have their level, unless such a point is alone.
    """
    # The smaller process of each point is in column 0, the larger one in column 1.
    found = series.replicates[list(points), int(largest)]
    alone = len(points) == 1
    return found if alone else np.where(np.isnan(found), series.levels[list(points)], found)


def _nearest(values: NDArray[np.float64]) -> float:
    """Return the smallest value that is not an exception."""
    return float(np.sort(values)[len(values) // POINTS_PER_EXCEPTION])


# Points up to which the first one alone may be the level before a step.
FEW_POINTS = 3


@dataclass(frozen=True)
class _Segment:
    """Part of a series without a known change: the points that have values."""

    name: Hashable
    points: NDArray[np.int64]


def detect(inputs: Mapping[Hashable, DetectorInput], level: float) -> dict[Hashable, list[ChangePoint]]:
    """Return the change points of each series in order of time; series without one are omitted.

    Changes that a single process shows at the newest point come last, and are not confirmed.

    Parameters
    ----------
    inputs : mapping
        All series by name.
    level : float
        Probability of any false alarm, e.g. 0.01.
    """
    valued = {name: np.flatnonzero(~np.isnan(each.levels)) for name, each in inputs.items()}
    open_segments = [_Segment(name, points) for name, points in valued.items() if len(points) > 1]
    models = fit_noise_models(inputs.values(), level)
    found: dict[Hashable, list[ChangePoint]] = {}
    finished: list[_Segment] = []
    while open_segments:
        # Segments that were not significant before count as tests, too.
        tests = len(open_segments) + len(finished)
        judged = [
            (part, *_best(inputs[part.name], part, models, confirmed=True)) for part in open_segments
        ]
        threshold = holm_threshold([p for _, p, _ in judged], tests, level)
        open_segments = []
        for part, p, change in judged:
            if change is None or p > threshold:
                finished.append(part)
                continue
            found.setdefault(part.name, []).append(change)
            open_segments += _split(part, change)
    # Suspicions have their own allowance, after all confirmed changes are out.
    judged = [(part, *_best(inputs[part.name], part, models, confirmed=False)) for part in finished]
    threshold = holm_threshold([p for _, p, _ in judged], len(finished), level)
    for part, p, change in judged:
        if change and p <= threshold:
            found.setdefault(part.name, []).append(change)
    return {name: sorted(changes, key=lambda change: change.after) for name, changes in found.items()}


def _best(
    series: DetectorInput, part: _Segment, models: Mapping[Hashable, NoiseModel], *, confirmed: bool
) -> tuple[float, ChangePoint | None]:
    """Return the p-value of the most significant change that is of interest, and the change.

    Of unconfirmed changes, only those at the newest point are of interest. Without any, p is 1.
    """
    found, model = contrasts(series.levels[part.points]), models[series.kind]
    p_values = _p_values(found, len(part.points), series, model.variance)
    large_enough = np.abs(found.effect) > series.least_effect
    for which in np.argsort(p_values).tolist():
        if large_enough[which]:
            change = _change_point(series, part, found, which, model.replicates)
            if change.confirmed is confirmed and (confirmed or change.after == (series.newest,)):
                return float(p_values[which]), change
    return 1.0, None


def _p_values(
    found: Contrasts, points: int, series: DetectorInput, prior: VariancePrior
) -> NDArray[np.float64]:
    """Return Bonferroni's bound of the p-value of each contrast."""
    from scipy import stats  # type: ignore[import-untyped]

    freedom = points - 2
    variance = prior.moderated(series.variance_class, found.squares, freedom)
    # One contrast is chosen among all of a series, hence their number as a factor.
    t = np.abs(found.effect) / np.sqrt(variance * found.weight)
    return np.minimum(1.0, len(t) * 2 * stats.t.sf(t, prior.freedom + freedom))


def _change_point(
    series: DetectorInput, part: _Segment, found: Contrasts, which: int, noise: ReplicateNoise
) -> ChangePoint:
    points, at = part.points.tolist(), int(found.at[which])
    change = ChangePoint(
        before=tuple(points[:at]),
        after=tuple(points[at:]),
        drift=bool(found.drift[which]),
        effect=float(found.effect[which]),
        confirmed=False,
    )
    if change.drift:
        # A step can look like a drift, and a drift like a step: the one that explains more decides.
        fits_best = which == int(found.squares.argmin())
        return replace(change, confirmed=fits_best and is_confirmed_drift(change, series))
    # An outlier at the very first point, with many after it, is of no interest.
    plausible = change.after == (series.newest,) or len(change.before) > 1 or len(points) <= FEW_POINTS
    return replace(change, confirmed=plausible and is_confirmed_step(change, series, noise))


def _split(part: _Segment, change: ChangePoint) -> list[_Segment]:
    """Return the parts on both sides of a step that can be split further; a drift leaves none."""
    if change.drift:
        return []
    sides = (np.array(change.before), np.array(change.after))
    return [_Segment(part.name, points) for points in sides if len(points) > 1]


def holm_threshold(p_values: list[float], tests: int, level: float) -> float:
    """Return the largest p-value to reject by Holm's procedure.

    Parameters
    ----------
    p_values : list of float
        The smallest of all p-values, in any order.
    tests : int
        Number of all tests; those beside `p_values` have larger ones.
    level : float
        Probability of any false rejection.
    """
    threshold = -1.0
    for rank, p in enumerate(sorted(p_values)):
        if p > level / (tests - rank):
            break
        threshold = p
    return threshold
