"""The distributions that the tests rest on, from SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
