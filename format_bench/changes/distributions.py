"""The distributions that the tests rest on, from SciPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def t_tails(t: NDArray[np.float64], freedom: float) -> NDArray[np.float64]:
    """Return how probable it is that Student's t lies further from 0 than each of some values."""
    from scipy.special import stdtr  # type: ignore[import-untyped]

    return 2 * stdtr(freedom, -abs(t))


def log_variance_mean(freedom: float) -> float:
    """Return the expected logarithm of an estimated variance of 1."""
    from scipy.special import psi

    return float(psi(freedom / 2)) - math.log(freedom / 2)


def log_variance_scatter(freedom: float) -> float:
    """Return the variance of the logarithm of an estimated variance."""
    from scipy.special import polygamma

    return float(polygamma(1, freedom / 2))


def freedom_of(scatter: float, *, most: float) -> float:
    """Return the degrees of freedom with which the logarithm of a variance scatters so, or `most`."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    if scatter <= log_variance_scatter(most):
        return most
    return float(brentq(lambda freedom: log_variance_scatter(freedom) - scatter, 1e-3, most))
