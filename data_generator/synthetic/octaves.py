"""Noise on grids and its doubling in resolution, the parts of fields with equal power over many scales.

All arithmetic is that of integers, so results are the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords


def signed_noise(random: RandomWords, draws: int, count: int) -> np.ndarray:
    """Return nearly normal noise, differences of sums of `draws` bytes; shape (count,), dtype int32.

    The standard deviation is 73.9 times the square root of `draws`, an even number.
    """
    import numpy as np

    numbers = random.words(-(-count * draws // 8)).view(np.uint8)[: count * draws].reshape(draws, count)
    half = draws // 2
    return numbers[:half].sum(axis=0, dtype=np.int32) - numbers[half:].sum(axis=0, dtype=np.int32)


def doubled(grid: np.ndarray) -> np.ndarray:
    """Return a grid of twice the resolution by linear interpolation; both axes are periodic."""
    return _doubled_rows(_doubled_rows(grid).T).T >> 4


def _doubled_rows(rows: np.ndarray) -> np.ndarray:
    """Return twice as many rows, times 4; the last row neighbours the first."""
    import numpy as np

    twice = np.empty((2 * len(rows), *rows.shape[1:]), rows.dtype)
    thrice = 3 * rows
    np.add(thrice, np.roll(rows, 1, axis=0), out=twice[0::2])
    np.add(thrice, np.roll(rows, -1, axis=0), out=twice[1::2])
    return twice
