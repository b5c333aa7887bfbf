"""Noise on grids and its doubling in resolution, the parts of fields with equal power over many scales.

All arithmetic is on integers, so results are the same on every machine.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords


# Standard deviation of a canvas; int16 has room for 8 of them.
CANVAS_DEVIATION = 4_096

# Relative deviation of a row, if all have the same.
EVENLY = 2**16


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


def canvas(
    coarse: tuple[int, int],
    rows: int,
    amplitudes: tuple[int, ...],
    random: RandomWords,
    spread: np.ndarray | None = None,
) -> np.ndarray:
    """Return noise of all scales, periodic from west to east.

    Parameters
    ----------
    coarse : (int, int)
        Rows and columns of the coarsest grid, which is doubled for each amplitude from the third on.
    rows : int
        Number of rows that are kept.
    amplitudes : tuple of int
        Of planetary waves, then of octaves from the coarsest on, in units of 1/256.
    random : RandomWords
        Source of the noise.
    spread : numpy.ndarray, optional
        Relative deviation of each row, in units of 1 / `EVENLY`; shape (rows, 1), dtype int64.

    Returns
    -------
    numpy.ndarray
        Shape (rows, period), dtype int16, with the mean 0 in each row and `CANVAS_DEVIATION`.
    """
    import numpy as np

    shape = coarse

    def noise(amplitude: int) -> np.ndarray:
        made = signed_noise(random, 4, shape[0] * shape[1]).reshape(shape)
        return made * (16 * amplitude) >> 8

    made = _smoothed(noise(4 * amplitudes[0]))
    made += noise(amplitudes[1])
    for amplitude in amplitudes[2:]:
        shape = (2 * shape[0], 2 * shape[1])
        made = doubled(made) + noise(amplitude)
    made = made[:rows].astype(np.int64)
    made -= made.sum(axis=1, keepdims=True) // made.shape[1]
    made = made * (EVENLY if spread is None else spread) >> 8
    deviation = isqrt(int((made * made).sum()) // made.size)
    return (made * CANVAS_DEVIATION // deviation).clip(-(2**15) + 1, 2**15 - 1).astype(np.int16)


def _smoothed(grid: np.ndarray) -> np.ndarray:
    """Return noise without waves shorter than about 30 degrees."""
    import numpy as np

    for _ in range(4):
        for axis in (0, 1):
            grid = (np.roll(grid, 1, axis) + 2 * grid + np.roll(grid, -1, axis)) >> 2
    return grid


def interpolated(nodes: tuple[int, ...], spacing: int, rows: int, top: int = 0) -> np.ndarray:
    """Return values between nodes that are some rows apart, times 256.

    Parameters
    ----------
    nodes : tuple of int
        Values at rows 0, `spacing`, 2 * `spacing`, ...
    spacing : int
        Number of rows between nodes.
    rows : int
        Number of rows.
    top : int
        The first row.

    Returns
    -------
    numpy.ndarray
        Shape (rows, 1), dtype int64.
    """
    import numpy as np

    values = np.array((*nodes, nodes[-1]), np.int64)
    place, share = np.divmod(np.arange(top, top + rows), spacing)
    between = values[place] * (spacing - share) + values[place + 1] * share
    return (between * 256 // spacing)[:, None]
