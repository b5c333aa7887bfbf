"""Random numbers of java.util.Random, in blocks.

A linear congruential generator of 48 bits, as its documentation specifies:
https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/Random.html
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# The linear congruential generator of `java.util.Random`, which its documentation prescribes.
_MULTIPLIER, _ADDEND, _MASK = 0x5DEECE66D, 0xB, 2**48 - 1


class JavaRandom:
    """The generator after its constructor with a seed.

    Parameters
    ----------
    seed : int
        Seed, the argument of Java's constructor.
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def next_int(self, limit: int) -> int:
        """Return Java's `nextInt(limit)`, for a limit that is not a power of two."""
        while True:
            self._state = (self._state * _MULTIPLIER + _ADDEND) & _MASK
            bits = self._state >> 17
            # Java's int overflows for the last, incomplete interval of `limit` numbers.
            if bits - bits % limit + limit - 1 < 2**31:
                return bits % limit

    def rows(self, integers: int, indices: int, limit: int, count: int) -> np.ndarray:
        """Return rows of `nextInt()` and `nextInt(limit)`, shape (rows, columns), dtype int32.

        Parameters
        ----------
        integers, indices : int
            Columns of any integers first, one at least, then columns of integers in [0, limit).
        limit : int
            Not a power of two.
        count : int
            Largest number of rows: those before the first rejected draw, and the row with it, at least.
        """
        import numpy as np

        columns = integers + indices
        states = self._states(count * columns).reshape(count, columns)
        found = np.empty((count, columns), np.int32)
        found[:, :integers] = (states[:, :integers] >> 16).astype(np.uint32).view(np.int32)
        bits = states[:, integers:] >> 17
        found[:, integers:] = bits % limit
        rejected = (bits - bits % limit + limit - 1 >= 2**31).any(axis=1)
        if not rejected.any():
            self._state = int(states[-1, -1])
            return found
        # A rejected draw moves all after it, so its row is drawn one by one.
        row = int(rejected.argmax())
        self._state = int(states[row, integers - 1])
        found[row, integers:] = [self.next_int(limit) for _ in range(indices)]
        return found[: row + 1]

    def _states(self, count: int) -> np.ndarray:
        # One table serves all lengths of up to its own.
        factors, addends = (each[:count] for each in _powers(1 << (count - 1).bit_length()))
        # Modulo 2**64 first, of which 2**48 is a divisor.
        states: np.ndarray = (factors * self._state + addends) & _MASK
        return states


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return factors and addends of 1 to `count` steps, each of shape (count,), dtype uint64."""
    import numpy as np

    factors, addends = np.empty(count, np.uint64), np.empty(count, np.uint64)
    factors[0], addends[0] = _MULTIPLIER, _ADDEND
    done = 1
    while done < count:
        more = min(done, count - done)
        factor, addend = int(factors[done - 1]), int(addends[done - 1])
        factors[done : done + more] = factors[:more] * factor & _MASK
        addends[done : done + more] = (factors[:more] * addend + addends[:more]) & _MASK
        done += more
    return factors, addends
