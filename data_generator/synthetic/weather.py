"""Fields of surface weather over time, with the spectra, moments and 16-bit origin of a reanalysis.

A field is a sum of periodic canvases that drift along the parallels at speeds of their own, weighted by
waves in time, over a pattern that does not change: a profile from north to south, and relief where there
is land. Any time step is computed alone. All arithmetic on fields is on integers, except for one
multiplication and one addition of float32, which IEEE 754 rounds alike on every machine.

Canvases have equal noise in each octave, scaled by the spectra that are observed: the energy of wind
decreases with the wave number k as k^-3 at scales of 500 to 3000 km and as k^-5/3 below (Nastrom and
Gage, A Climatology of Atmospheric Wavenumber Spectra, J. Atmos. Sci. 42, 1985), and pressure, in
geostrophic balance with wind, by k^-2 faster. Models lack energy at scales below about seven grid
spacings (Skamarock, Evaluating Mesoscale NWP Models Using Kinetic Energy Spectra, Mon. Wea. Rev. 132,
2004), so the finest octaves are damped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, TypeVar

from data_generator.random_words import RandomWords
from data_generator.synthetic.octaves import CANVAS_DEVIATION, canvas, interpolated

if TYPE_CHECKING:
    import numpy as np


# Bits of a value in the files of the reanalysis.
PACKED_BITS = 16

# Largest weight of a canvas before the deviation of a step is adjusted: 3 canvases fit in int32.
FULL_WEIGHT = 2**13
# Of a turn: angles are integers, too.
PHASES = 2**16

# Rows that are processed together, so that they stay in the processor's cache.
BLOCK_ROWS = 40
# Every eighth row gives the variance of a step to better than 1 %.
SAMPLED_ROW = 8

# Degrees north; between them, profiles are interpolated.
PARALLELS = (70, 50, 30, 10, -10, -30, -50, -70)
ROWS_BETWEEN = 80


@dataclass(frozen=True)
class Grid:
    """Size of a field of 0.25 degrees, and of the periodic canvases that it is cut from."""

    rows: int
    columns: int
    coarse_rows: int
    """Number of cells of 8 degrees; 32 times as many rows are at least the field's."""
    coarse_columns: int
    """Likewise; a field of as many columns is periodic."""
    top: int = 0
    """Row of the first parallel, counted from 70 degrees north."""


@dataclass(frozen=True)
class Variable:
    """Parameters of one variable of the weather."""

    name: str
    mean: float
    deviation: float
    unit_bits: int
    """Values are integers in units of 2**-unit_bits, such that `deviation` is about 2**23."""
    amplitudes: tuple[int, ...]
    """Of planetary waves, then of octaves from 8 to 0.25 degrees, in units of 1/256."""
    profile: tuple[int, ...]
    """Deviation from the mean at each of `PARALLELS`, in units of 1/256 of `deviation`."""
    spread: tuple[int, ...]
    """Relative deviation over time at each of `PARALLELS`, at most 256."""
    relief: int
    """Deviation over the highest land, in the same units."""
    least: float | None = None
    """Lower bound of values that are amounts."""


@lru_cache(maxsize=12)
def _pattern(variable: Variable, grid: Grid, seed: int) -> np.ndarray:
    """Return the part that does not change over time; shape (rows, columns), int32, read-only."""
    import numpy as np

    unit = int(variable.deviation * 2**variable.unit_bits) // 256
    profile = _by_row(variable.profile, grid) * unit
    land = _relief(grid, seed).astype(np.int64) * variable.relief * unit // (4 * CANVAS_DEVIATION)
    pattern = ((profile >> 8) + land).astype(np.int32)
    pattern.flags.writeable = False
    return pattern


def _by_row(nodes: tuple[int, ...], grid: Grid) -> np.ndarray:
    """Return values at `PARALLELS` for each row, times 256; shape (rows, 1), dtype int64."""
    return interpolated(nodes, ROWS_BETWEEN, grid.rows, grid.top)


@lru_cache(maxsize=2)
def _relief(grid: Grid, seed: int) -> np.ndarray:
    """Return the height of land, 0 at sea, up to 4 times `CANVAS_DEVIATION`; shape (rows, columns)."""
    import numpy as np

    rough = (512, 256, 160, 100, 60, 30, 10)
    shape = (grid.coarse_rows, grid.coarse_columns)
    height = canvas(shape, grid.rows, rough, RandomWords("relief", grid.rows, seed))
    return (height[:, : grid.columns] - CANVAS_DEVIATION // 2).clip(0).astype(np.int32)


@lru_cache(maxsize=24)
def _canvases(variable: Variable, grid: Grid, seed: int) -> np.ndarray:
    """Return three canvases, twice beside themselves; shape (3, rows, 2 * period), int16, read-only."""
    import numpy as np

    made = [
        canvas(
            (grid.coarse_rows, grid.coarse_columns),
            grid.rows,
            variable.amplitudes,
            RandomWords("weather", variable.name, grid.rows, number, seed),
            _by_row(variable.spread, grid),
        )
        for number in range(3)
    ]
    canvases = np.concatenate([made, made], axis=2)
    canvases.flags.writeable = False
    return canvases


Phase = TypeVar("Phase", int, "np.ndarray")


def wave(phase: Phase) -> Phase:
    """Return a wave of parabolas, which resembles a sine; from -8192 to 8192.

    Parameters
    ----------
    phase : int or numpy.ndarray
        In units of 1/65536 of a period; arrays are int64.
    """
    half, place = divmod(phase % PHASES, PHASES // 2)
    height = place * (PHASES // 2 - place) * 4 * FULL_WEIGHT // (PHASES // 2) ** 2
    return height - 2 * half * height


class Weather:
    """Time steps of one variable, an hour apart.

    Step i depends on the variable, the grid, the seed and i alone.

    Parameters
    ----------
    variable : Variable
        Its name is part of the key of all random numbers.
    grid : Grid
        Size of a field.
    seed : int
        Fields of different seeds have nothing in common but their moments.
    """

    def __init__(self, variable: Variable, grid: Grid, seed: int) -> None:
        self._variable, self._grid = variable, grid
        self._canvases = _canvases(variable, grid, seed)
        self._pattern = _pattern(variable, grid, seed)
        random = RandomWords("weather in time", variable.name, grid.rows, seed)
        self._phase, *self._places = random.integers(2**16, 4).tolist()
        # A rotation of the weights takes 6 to 12 days.
        self._rotation = PHASES // (144 + int(random.integers(145, 1)[0]))
        # Sixteenths of a column an hour; 0.25 degrees an hour are 28 km/h at the equator.
        self._drifts = (20, -6, 9)

    def step(self, number: int, out: np.ndarray) -> None:
        """Write the field of a time step to `out`, shape (rows, columns), dtype float32."""
        import numpy as np

        variable, grid = self._variable, self._grid
        field = np.empty((grid.rows, grid.columns), np.int32)
        windows = self._windows(number)
        phase = self._phase + number * self._rotation
        waves = [wave(phase), wave(phase + PHASES // 4), FULL_WEIGHT // 2]
        weights = self._adjusted(waves, windows)
        product = np.empty((BLOCK_ROWS, grid.columns), np.int32)
        for top in range(0, grid.rows, BLOCK_ROWS):
            rows = slice(top, top + BLOCK_ROWS)
            block = field[rows]
            np.copyto(block, self._pattern[rows])
            for window, weight in zip(windows, weights, strict=True):
                # Without the dtype, NumPy 1 would multiply int16 by small weights in int16.
                np.multiply(window[rows], np.int32(weight), out=product[: len(block)], dtype=np.int32)
                block += product[: len(block)]
        mean = int(field.sum(dtype=np.int64)) // field.size
        if variable.least is not None:
            bound = mean + int((variable.least - variable.mean) * 2**variable.unit_bits)
            np.maximum(field, np.int32(bound), out=field)
        pack(field, variable.mean - mean * 2.0**-variable.unit_bits, variable.unit_bits, out)

    def _windows(self, number: int) -> list[np.ndarray]:
        """Return the parts of the canvases that the field consists of."""
        period = self._canvases.shape[2] // 2
        lefts = [
            (place + (number * drift >> 4)) % period
            for place, drift in zip(self._places, self._drifts, strict=True)
        ]
        return [
            canvas[:, left : left + self._grid.columns]
            for canvas, left in zip(self._canvases, lefts, strict=True)
        ]

    def _adjusted(self, waves: list[int], windows: list[np.ndarray]) -> list[int]:
        """Return the weights that give the step its standard deviation."""
        import numpy as np

        variable = self._variable
        pattern = self._pattern[::SAMPLED_ROW] >> 8
        moving = np.zeros_like(pattern)
        for window, wave in zip(windows, waves, strict=True):
            moving += window[::SAMPLED_ROW].astype(np.int32) * np.int32(wave)
        moving >>= 8

        def covariance(one: np.ndarray, other: np.ndarray) -> float:
            one, other = one.astype(np.int64), other.astype(np.int64)
            product = int((one * other).sum()) * one.size - int(one.sum()) * int(other.sum())
            return product / one.size**2

        # The variance of pattern + factor * moving is a quadratic equation for the factor.
        wanted = (variable.deviation * 2.0 ** (variable.unit_bits - 8)) ** 2
        both, square = covariance(pattern, moving), covariance(moving, moving)
        missing = wanted - covariance(pattern, pattern)
        factor = (sqrt(both * both + square * missing) - both) / square
        return [round(wave * factor) for wave in waves]


def pack(field: np.ndarray, offset: float, unit_bits: int, out: np.ndarray) -> None:
    """Write the values that the simple packing of GRIB restores from a field, which is overwritten.

    Values are reference + n * 2**E: the reference is the least value, in float32; n has 16 bits; E is
    the least exponent that the range allows (WMO, Manual on Codes, volume I.2, data template 7.0).

    Parameters
    ----------
    field : numpy.ndarray
        int32, any shape, with a range of less than 2**31.
    offset : float
        Added to all values.
    unit_bits : int
        Values of `field` are in units of 2**-unit_bits.
    out : numpy.ndarray
        Same shape, dtype float32; at most 65,536 distinct values are written.
    """
    import numpy as np

    least, most = int(field.min()), int(field.max())
    shift = 0
    while most - least > (2**PACKED_BITS - 1) << shift:
        shift += 1
    field -= np.int32(least - (1 << shift >> 1))  # rounds to the nearest
    field >>= shift
    np.copyto(out, field)
    out *= np.float32(2.0 ** (shift - unit_bits))
    out += np.float32(offset + least * 2.0**-unit_bits)
