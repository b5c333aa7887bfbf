"""Reproducible random numbers: the same on every machine and with every version of NumPy.

NumPy keeps the raw output of its bit generators stable between versions, but not the numbers that
`numpy.random.Generator` derives from it (NEP 19, https://numpy.org/neps/nep-0019-rng-policy.html). All
numbers here are therefore derived from raw PCG64 words by this module's own arithmetic.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class RandomWords:
    """Stream of random 64-bit words that depends on its key alone.

    Parameters
    ----------
    *key : str or int
        Purpose of the stream and seed, e.g. ``RandomWords("eq", "int_0", seed)``. Streams of different
        keys are independent of each other.
    """

    def __init__(self, *key: str | int) -> None:
        from numpy.random import PCG64

        digest = hashlib.sha256(repr(key).encode()).digest()
        self._generator = PCG64(int.from_bytes(digest, "little"))

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, shape (count,), dtype little-endian uint64."""
        return self._generator.random_raw(count).astype("<u8", copy=False)

    def uniform(self, count: int) -> np.ndarray:
        """Return `count` floats uniform in [0, 1), shape (count,), dtype float64, of 53 random bits."""
        words = self.words(count)
        words >>= 11
        return words * 2.0**-53

    def integers(self, limit: int, count: int) -> np.ndarray:
        """Return `count` integers uniform in [0, limit), shape (count,), dtype uint64.

        The limit is at most 2**32. No value's probability differs from 1 / limit by more than 2**-32.
        """
        words = self.words(count)
        # Multiply and shift, as Lemire (2019), but without rejection: each value takes exactly one word.
        words >>= 32
        words *= limit
        words >>= 32
        return words
