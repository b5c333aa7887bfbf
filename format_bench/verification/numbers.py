"""Exact comparison of arrays of numbers, whatever dtypes these have.

Integers beyond 2**53 do not pass through floats, and floats are not cut to integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def differing_numbers(kept: np.ndarray, back: np.ndarray) -> np.ndarray | None:
    """Return the mask for arrays of numbers or booleans; None for complex numbers and others."""
    kinds = kept.dtype.kind + back.dtype.kind
    if kinds == "cc":
        real = _differing_floats(kept.real, back.real)
        return real | _differing_floats(kept.imag, back.imag)
    if "c" in kinds:
        return None
    if kinds == "ff":
        return _differing_floats(kept, back)
    if kinds[0] == "f":
        return _differing_from_integers(kept, _integers(back))
    if kinds[1] == "f":
        return _differing_from_integers(back, _integers(kept))
    one, other = _integers(kept), _integers(back)
    if one.dtype == other.dtype:
        return one != other
    # NumPy would compare both as floats.
    signed, unsigned = (one, other) if one.dtype.kind == "i" else (other, one)
    return (signed < 0) | (signed.astype(unsigned.dtype) != unsigned)


def _differing_floats(kept: np.ndarray, back: np.ndarray) -> np.ndarray:
    import numpy as np

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        fitted = np.ascontiguousarray(back, kept.dtype)
    if kept.dtype.itemsize > np.dtype(np.float64).itemsize:
        # Padding bits have no meaning.
        wrong = (kept != fitted) | (np.signbit(kept) != np.signbit(fitted))
    else:
        unsigned = f"u{kept.dtype.itemsize}"
        wrong = np.ascontiguousarray(kept).view(unsigned) != fitted.view(unsigned)
    if back.dtype.itemsize > kept.dtype.itemsize:
        # Rounding to fewer bits may overflow or vanish.
        wrong |= (np.isfinite(fitted) != np.isfinite(back)) | ((fitted == 0) != (back == 0))
    return wrong & ~(np.isnan(kept) & np.isnan(back)) if wrong.any() else wrong


def _integers(values: np.ndarray) -> np.ndarray:
    """Return integers, or booleans as 0 and 1, in 64 bits."""
    import numpy as np

    return values.astype(np.int64 if values.dtype.kind == "i" else np.uint64, copy=False)


def _differing_from_integers(floats: np.ndarray, integers: np.ndarray) -> np.ndarray:
    """Return True where a float is not the integer, as a sign of zero is not."""
    import numpy as np

    # The bounds overflow as 16-bit floats.
    floats = floats.astype(np.result_type(floats, np.float64), copy=False)
    lowest, beyond = (-(2.0**63), 2.0**63) if integers.dtype.kind == "i" else (0.0, 2.0**64)
    fits = (floats == np.floor(floats)) & (floats >= lowest) & (floats < beyond)
    fits &= ~(np.signbit(floats) & (floats == 0))
    if fits.all():
        return floats.astype(integers.dtype) != integers
    wrong = ~fits
    wrong[fits] = floats[fits].astype(integers.dtype) != integers[fits]
    return wrong
