"""Floats that a writer has rounded, told from wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_READERS_ERROR = 2.0**-50
"""Relative error allowed to readers of text: pandas' parser of JSON errs by two ulps."""


def is_rounded(
    before: np.ndarray, after: np.ndarray, digits: int, decimals: int | None = None
) -> np.ndarray:
    """Return True for floats that differ by rounding alone, shape (values,).

    A rounded float has the sign of the one before, is finite, and is not zero. It differs by half a unit
    of the last kept place, and by the error of a reader of text, at most half a unit more.

    Parameters
    ----------
    before, after : numpy.ndarray
        The floats saved and read, dtype float64, shape (values,).
    digits : int
        Significant digits that the writer keeps.
    decimals : int, optional
        Decimals that it keeps, of floats that have as many: 10**-decimals and above.
    """
    import numpy as np

    comparable = np.isfinite(before) & np.isfinite(after) & (before != 0) & (after != 0)
    comparable &= np.signbit(before) == np.signbit(after)
    rounded = np.zeros(len(before), bool)
    one, other = np.abs(before[comparable]), np.abs(after[comparable])
    # Shares of the value neither overflow nor vanish, as differences of large and of small ones do.
    _, exponents = np.frexp(one)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(one, -exponents)
        share = np.abs(scaled - np.ldexp(other, -exponents)) / scaled
        logarithms = np.log10(one)
        # A power of ten has the unit of the digits after it, whatever its logarithm is rounded to.
        unit = 10.0 ** (np.floor(logarithms + 1e-12) - logarithms + 1 - digits)
        if decimals is not None:
            last = 10.0**-decimals
            unit = np.where(one >= last, np.maximum(unit, last / one), unit)
    rounded[comparable] = share <= (unit / 2 + np.minimum(unit / 2, _READERS_ERROR)) * (1 + 1e-9)
    return rounded
