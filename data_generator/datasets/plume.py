"""Concentration of a tracer that drifts over sea and land, with every kind of float.

Lossy codecs meet here what fields of weather lack: NaN on land, where nothing is measured, positive and
negative infinities of sensors beyond their ends, zeros of both signs, subnormals, and magnitudes over 40
powers of ten.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_arrays import stepwise
from data_generator.random_words import RandomWords
from data_generator.synthetic.octaves import canvas

if TYPE_CHECKING:
    import numpy as np


SHAPE = (160, 320)
COARSE = (5, 10)
AMPLITUDES = (300, 256, 128, 64, 32, 12, 4)
DIMENSIONS = ("time", "latitude", "longitude")

# Of the field, whose standard deviation is 2**12, in a doubling: a deviation is 32 powers of two.
UNITS_BITS = 7
# Exponent of two of the middle. An eighth of the values is below -126, where floats are subnormal.
MIDDLE = -90
# A quarter of the surface is land.
LEAST_LAND = 2_700
# One value of so many is infinite, and as many are a negative zero.
RARE = 4_096


def _plume(count: int, seed: int) -> Dataset:
    array = stepwise(partial(_step, seed), count, SHAPE, "float32", name="tracer", dims=DIMENSIONS)
    return Dataset("plume", array=array)


def _step(seed: int, number: int) -> np.ndarray:
    """Return the concentrations of a step; those of the step before have drifted by two columns."""
    import numpy as np

    drifting, still, is_land = _fields(seed)
    field = (np.roll(drifting, 2 * number, axis=1) + still)[:, : SHAPE[1]]
    # A mantissa from 1 to 2 and an exponent: a curve of straight lines between powers of two. Digits
    # below the field's are noise.
    words = RandomWords("plume", seed, number).words(SHAPE[0] * SHAPE[1]).reshape(SHAPE)
    share = (field & (2**UNITS_BITS - 1)) * 2.0**-UNITS_BITS + (words >> 48) * 2.0 ** -(UNITS_BITS + 16)
    # Conversion to float32 rounds to subnormals, and to zero.
    values = np.ldexp(1.0 + share, (field >> UNITS_BITS) + MIDDLE).astype(np.float32)
    rare = words % RARE
    values[rare == 0] = np.inf
    values[rare == 1] = -np.inf
    values[rare == 2] = -0.0  # noqa: PLR2004 (the next one)
    values[is_land] = np.nan
    return values


@lru_cache(maxsize=2)
def _fields(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two fields of integers, of which one drifts, and the places of land."""
    import numpy as np

    drifting, still, land = (
        canvas(COARSE, SHAPE[0], AMPLITUDES, RandomWords("plume", name, seed)).astype(np.int64)
        for name in ("drifting", "still", "land")
    )
    return drifting, still // 4, land[:, : SHAPE[1]] > LEAST_LAND


DATASETS = (
    DatasetDefinition(
        name="plume",
        family="arrays",
        description="concentrations with NaN, infinities, subnormals; float32 chunks of 160 x 320",
        make=_plume,
        default_count=1_000,
    ),
)
