"""Random 64-bit words that are the same everywhere.

NumPy keeps the raw output of its bit generators stable between versions, but not what
`numpy.random.Generator` makes of it (NEP 19, https://numpy.org/neps/nep-0019-rng-policy.html). So all
values here are made from raw PCG64 words by arithmetic of our own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class Bits:
    """A stream of random words that depends on its key alone.

    Parameters
    ----------
    *key : str or int
        What the stream is for, as in ``Bits("eq", "int_0", seed)``.
    """

    def __init__(self, *key: str | int) -> None:
        from numpy.random import PCG64

        digest = hashlib.sha256(repr(key).encode()).digest()
        self._generator = PCG64(int.from_bytes(digest, "little"))

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, shape (count,), dtype little-endian uint64."""
        return self._generator.random_raw(count).astype("<u8", copy=False)

    def fractions(self, count: int) -> np.ndarray:
        """Return the next `count` fractions in [0, 1), shape (count,), dtype float64, 53 bits each."""
        words = self.words(count)
        words >>= 11
        return words * 2.0**-53

    def below(self, limit: int, count: int) -> np.ndarray:
        """Return `count` integers in [0, limit), shape (count,), dtype uint64; limit up to 2**32.

        A multiplication maps 32 bits to the range; no value's share is off by more than 2**-32.
        """
        words = self.words(count)
        words >>= 32
        words *= limit
        words >>= 32
        return words
