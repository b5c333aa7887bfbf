"""The distributions that the tests rest on, from SciPy.

How much series vary from point to point, when each is too short to tell by itself.

G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments" (Statistical Applications in Genetics and Molecular Biology 3, 2004): the
variances of many series scatter around a common one like F; how closely says how much each is drawn to
it. Where some vary far more than most, the degrees of freedom stay few, and the tails of t heavy.

Smyth matches the moments of the variances' logarithms. Here quantiles are matched, above the median
alone: values that hardly ever vary would else make up for those that vary wildly.

The variances of series as they are, with obvious changes taken out, which are no noise.

What all series of a kind tell of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.confirmation import Rounds
from format_bench.changes.detection.model import contrasts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.detection.model import Question


LEAST_FREEDOM, MOST_FREEDOM = 0.5, 60.0
"""Degrees of freedom below which t has no bounds to speak of, and beyond which it is nearly normal."""


def t_tails(t: NDArray[np.float64], freedom: float) -> NDArray[np.float64]:
    """Return how probable it is that Student's t lies further from 0 than each of some values."""
    from scipy.special import stdtr  # type: ignore[import-untyped]

    return 2 * stdtr(freedom, -abs(t))


def f_quantile(share: float, freedom: float, other: float) -> float:
    """Return a quantile of Fisher's F."""
    from scipy.special import fdtri

    return float(fdtri(freedom, other, share))


def freedom_with(ratio: float, share: float, freedom: float) -> float:
    """Return the second degrees of freedom with which a quantile of F is so many times its median."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    def excess(other: float) -> float:
        return f_quantile(share, freedom, other) / f_quantile(0.5, freedom, other) - ratio

    if excess(MOST_FREEDOM) >= 0:
        return MOST_FREEDOM
    if excess(LEAST_FREEDOM) <= 0:
        return LEAST_FREEDOM
    return float(brentq(excess, LEAST_FREEDOM, MOST_FREEDOM))


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


OBVIOUS = 6.0
"""Standard errors from which a change is taken out: were it left in, many changes in one month would
look like noise. A single point that stands out is left in: that is what noise looks like."""


def variances(alike: Sequence[NDArray[np.float64]]) -> list[Variance]:
    """Return the variance of each of several series that vary alike, of two points or more each."""
    whole = [Variance(float(levels.var(ddof=1)), len(levels) - 1) for levels in alike]
    usual = float(np.median([each.value for each in whole])) + SMALLEST**2
    return [_without_change(levels, usual) or plain for levels, plain in zip(alike, whole, strict=True)]


def _without_change(levels: NDArray[np.float64], usual: float) -> Variance | None:
    """Return the variance beside an obvious change; None if there is no such change."""
    if len(levels) < 4:  # noqa: PLR2004 (a step has two points on either side)
        return None
    found = contrasts(levels)
    squares = np.where(found.fewest > 1, found.squares, np.inf)
    best = int(squares.argmin())
    obvious = abs(found.effect[best]) > OBVIOUS * (usual * found.weight[best]) ** 0.5
    freedom = len(levels) - 2
    return Variance(float(squares[best]) / freedom, freedom) if obvious else None


@dataclass(frozen=True)
class Known:
    """How series of a kind vary from point to point, and from process to process."""

    spread: Spread
    rounds: Rounds


def known_of(questions: Iterable[Question], level: float) -> dict[Hashable, Known]:
    """Return what is known of each kind that has series of two points or more."""
    kinds: dict[Hashable, list[Question]] = {}
    for each in questions:
        if np.count_nonzero(~np.isnan(each.levels)) > 1:
            kinds.setdefault(each.kind, []).append(each)
    return {kind: _known(found, level) for kind, found in kinds.items()}


def _known(questions: list[Question], level: float) -> Known:
    alike: dict[Hashable, list[NDArray[np.float64]]] = {}
    for each in questions:
        alike.setdefault(each.alike, []).append(each.levels[~np.isnan(each.levels)])
    spread = spread_of({name: variances(found) for name, found in alike.items()})
    return Known(spread, Rounds.of([each.halves for each in questions], level))
