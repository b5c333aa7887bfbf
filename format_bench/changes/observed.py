"""The variances of series as they are, with obvious changes taken out, which are no noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.contrasts import contrasts
from format_bench.changes.spread import SMALLEST, Variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
