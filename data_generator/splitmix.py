"""Random words of SplitMix64, by position: the same in every language.

G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014,
https://doi.org/10.1145/2660193.2660195. java.util.SplittableRandom has the same constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# 2**64 divided by the golden ratio, made odd: Steele, Lea and Flood, "Fast splittable pseudorandom
# number generators", OOPSLA 2014.
_GAMMA = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


class SplitMix:
    """Stream of random 64-bit words that can be asked at any position.

    Parameters
    ----------
    seed : int
        Seed; its lowest 64 bits count.
    stream : int
        Number of the stream, from 0: streams of one seed are independent of each other.
    """

    def __init__(self, seed: int, stream: int) -> None:
        self._key = _mix((_mix(seed + _GAMMA) + stream * _GAMMA) & _MASK)

    def words(self, start: int, count: int) -> np.ndarray:
        """Return words from a position on, shape (count,), dtype uint64."""
        import numpy as np

        # Arrays of uint64 wrap around as the definition asks; NumPy's scalars would warn.
        z = np.arange(start + 1, start + count + 1, dtype=np.uint64)
        z *= np.uint64(_GAMMA)
        z += np.uint64(self._key)
        z ^= z >> 30
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> 27
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> 31
        return z


def below(limit: int, words: np.ndarray) -> np.ndarray:
    """Return integers in [0, limit) of the upper halves of words; the limit is at most 2**32.

    Lemire's multiply and shift (https://arxiv.org/abs/1805.10941) without rejection.
    """
    return (words >> 32) * limit >> 32


def int32(words: np.ndarray) -> np.ndarray:
    """Return the upper halves of words as signed integers of 32 bits."""
    import numpy as np

    return (words >> 32).astype(np.uint32).view(np.int32)


def _mix(z: int) -> int:
    z &= _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31
