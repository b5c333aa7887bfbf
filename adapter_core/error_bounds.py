"""Error bounds of saved floats, rounding that keeps them, and the information of bits.

Rounding leaves zeros at the end of mantissas, which any lossless codec shrinks: bit rounding, as Klöwer
et al. propose in "Compressing atmospheric data into its real information content", Nature Computational
Science 1, 2021, https://doi.org/10.1038/s43588-021-00156-2.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    import numpy as np

_NUMBER = r"(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)"
_FORM = re.compile(rf"(?:(abs|rel|range|bits)\s*)?{_NUMBER}\s*(%?)")

# In 99 % of cases the shares of heads of 64 fair coins, one for each bit of a double, are all within so
# many standard deviations of a half. The paper takes 2.58, those of one coin.
_CONFIDENCE = 3.78


class BoundKind(StrEnum):
    """Quantity that an error is a share of; the value is its name in texts."""

    ABSOLUTE = "abs"
    """The unit of the data."""
    RELATIVE = "rel"
    """Each value's own magnitude."""
    RANGE = "range"
    """Largest less smallest finite value of the array, or of the column."""
    INFORMATION = "bits"
    """Share of the information of all bits that the kept ones have, in percent."""


@dataclass(frozen=True)
class ErrorBound:
    """Most that any saved float may differ from its own value.

    NaN remains NaN, and infinities and their signs remain. Zeros remain under a relative bound.
    """

    MOST_ERROR: ClassVar[float] = 1e300
    """Largest absolute error, so that the double of it is a number."""

    kind: BoundKind
    share: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the bound of a text such as "abs 1e-3", "rel 0.01", "bits 99 %" or "1e-3", absolute.

        Raises
        ------
        ValueError
            If it is none.
        """
        found = _FORM.fullmatch(text.strip().lower())
        kind = BoundKind(found[1] or BoundKind.ABSOLUTE) if found else BoundKind.ABSOLUTE
        share = float(found[2]) if found else 0.0
        most = {BoundKind.ABSOLUTE: cls.MOST_ERROR, BoundKind.INFORMATION: 100.0}.get(kind, 1.0)
        is_percent = kind is BoundKind.INFORMATION
        if not found or not 0 < share <= most or (found[3] and not is_percent):
            raise ValueError("write e.g. abs 1e-3, rel 1e-3, range 1e-3 or bits 99 %")
        return cls(kind, share)

    def __str__(self) -> str:
        """Return the text of the bound: one for each."""
        return f"{self.kind} {self.share:g}" + (" %" if self.kind is BoundKind.INFORMATION else "")

    def is_within(self, other: ErrorBound) -> bool:
        """Return whether all that keeps this bound keeps another one; bounds of two kinds never do."""
        if self.kind is not other.kind:
            return False
        more, less = (other, self) if self.kind is BoundKind.INFORMATION else (self, other)
        return more.share <= less.share

    @property
    def bits(self) -> int:
        """Bits of a mantissa that rounding to the nearest keeps under a relative bound."""
        return max(0, math.ceil(-math.log2(self.share)) - 1)

    @property
    def step(self) -> float:
        """Largest power of two to whose multiples values may be rounded under an absolute bound.

        Scaling by it is exact, where a step of twice the bound would exceed it by rounding errors.
        """
        return math.ldexp(1.0, math.frexp(2 * self.share)[1] - 1)


def error_of(level: int | None, bound: ErrorBound | None) -> float:
    """Return the error that a codec is asked for: the bound's, or 2**-level without one."""
    return bound.share if bound else 2.0 ** -(level or 0)


def rounded(values: np.ndarray, bound: ErrorBound) -> np.ndarray:
    """Return floats with as many zeros at the end of their mantissas as an error bound permits.

    NaN and infinities remain as they are, and so do values that would become infinite, or that are
    subnormal under a relative bound.

    Parameters
    ----------
    values : numpy.ndarray
        Of any shape, and a float's dtype.
    bound : ErrorBound
        An absolute or a relative one.
    """
    import numpy as np

    mantissa = int(np.finfo(values.dtype).nmant)
    if bound.kind is BoundKind.RELATIVE:
        return _with_bits(values, mantissa, bound.bits)
    wide = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        nearest = (np.rint(wide / bound.step) * bound.step).astype(values.dtype)
        # Beyond, a float is a multiple of the step, and the quotient may be infinite.
        has_finer_bits = np.abs(wide) < bound.step * 2.0**mantissa
    return np.where(has_finer_bits & np.isfinite(nearest), nearest, values)


def _with_bits(values: np.ndarray, mantissa: int, kept: int) -> np.ndarray:
    """Return floats rounded to some bits of the mantissa, ties to even."""
    import numpy as np

    dropped = mantissa - kept
    if dropped <= 0:
        return values
    words = values.view(f"u{values.dtype.itemsize}")
    exponents = ((1 << (8 * values.dtype.itemsize - 1)) - 1) >> mantissa << mantissa
    # A carry into the exponent is right: it is the next power of two.
    nearest = words + (((words >> dropped) & 1) + ((1 << (dropped - 1)) - 1))
    nearest = (nearest >> dropped << dropped).view(values.dtype)
    is_normal = (words & exponents != 0) & np.isfinite(values) & np.isfinite(nearest)
    return np.where(is_normal, nearest, values)


def exceeding(saved: np.ndarray, read: np.ndarray, bound: ErrorBound) -> np.ndarray:
    """Return True for the floats that differ by more than a bound permits; shape as of both.

    Parameters
    ----------
    saved, read : numpy.ndarray
        Of one shape, and floats' dtypes.
    bound : ErrorBound
        An absolute or a relative one.
    """
    import numpy as np

    before, after = saved.astype(np.float64), read.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(after - before)
        permitted = bound.share * (np.abs(before) if bound.kind is BoundKind.RELATIVE else 1.0)
    is_same = (before == after) | (np.isnan(before) & np.isnan(after))
    return np.where(np.isfinite(before), ~(error <= permitted), ~is_same)


def information_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the information of each bit, the mutual one with the same bit of a neighbour, in bits.

    It is 0 below the information that fair coins have by chance in 99 % of cases.

    Parameters
    ----------
    first, second : numpy.ndarray
        Floats and their neighbours, of one dtype, shape (pairs,).

    Returns
    -------
    numpy.ndarray
        From the sign to the last bit of the mantissa.
    """
    import numpy as np

    def ones(words: np.ndarray) -> np.ndarray:
        found = np.unpackbits(words.reshape(-1, first.dtype.itemsize), axis=1)
        return found.sum(axis=0, dtype=np.int64) / max(1, len(words) // first.dtype.itemsize)

    big_endian = first.dtype.newbyteorder(">")
    words, others = (each.astype(big_endian).view(np.uint8) for each in (first, second))
    of_first, of_second, of_both = ones(words), ones(others), ones(words & others)
    joint = np.stack(
        [of_both, of_first - of_both, of_second - of_both, 1 - of_first - of_second + of_both]
    )
    alone = np.stack(
        [
            of_first * of_second,
            of_first * (1 - of_second),
            (1 - of_first) * of_second,
            (1 - of_first) * (1 - of_second),
        ]
    )
    # A probability of 0 adds nothing; rounding may have left a little.
    is_seen = (joint > 1e-15) & (alone > 0)  # noqa: PLR2004
    logarithms = np.log2(np.divide(joint, alone, out=np.ones_like(joint), where=is_seen))
    found = (joint * logarithms).sum(axis=0)
    head = min(1.0, 0.5 + _CONFIDENCE / (2 * math.sqrt(max(1, first.size))))
    by_chance = 1 - sum(-each * math.log2(each) for each in (head, 1 - head) if each > 0)
    return np.where(found > by_chance, found, 0.0)


def bits_for(information: np.ndarray, percent: float, mantissa: int) -> int | None:
    """Return the bits of a mantissa that have a share of all information with those before them.

    None if there is no information.
    """
    import numpy as np

    total = float(information.sum())
    if not total:
        return None
    # The last bit with any information is enough for all of it, whatever sums are rounded to.
    sums = np.cumsum(information) / total
    kept = int(np.argmax(sums >= min(percent / 100, float(sums[-1]) * (1 - 1e-12)))) + 1
    return max(0, kept - (len(information) - mantissa))
