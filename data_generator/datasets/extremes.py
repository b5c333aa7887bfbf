"""Arrays at both ends of compressibility: noise that no codec shrinks, and one value throughout.

The value of ``constant`` is neither 0 nor NaN, the usual fill values: Zarr does not write chunks that
contain nothing but the fill value.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_arrays import stepwise
from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np


# A step of float32 has 1 MiB.
SHAPE = (512, 512)
DIMENSIONS = ("step", "row", "column")

# 273.25 K: exact in binary floats of every width, so that no conversion changes it.
CONSTANT = 273.25

# Of float32: an exponent of ones is that of infinity and NaN.
EXPONENT = 0x7F80_0000
HIGHEST_EXPONENT_BIT = 0x4000_0000


def _noise(count: int, seed: int) -> Dataset:
    array = stepwise(partial(_noise_step, seed), count, SHAPE, "float32", name="noise", dims=DIMENSIONS)
    return Dataset("noise", array=array)


def _noise_step(seed: int, number: int) -> np.ndarray:
    """Return finite floats of random sign, exponent and mantissa."""
    import numpy as np

    words = RandomWords("noise array", seed, number).words(SHAPE[0] * SHAPE[1] // 2).view("<u4")
    words[(words & EXPONENT) == EXPONENT] ^= HIGHEST_EXPONENT_BIT
    return words.view("<f4").astype(np.float32, copy=False).reshape(SHAPE)


def _constant(count: int, _seed: int) -> Dataset:
    array = stepwise(_constant_step, count, SHAPE, "float32", name="constant", dims=DIMENSIONS)
    return Dataset("constant", array=array)


def _constant_step(_number: int) -> np.ndarray:
    import numpy as np

    return np.full(SHAPE, CONSTANT, np.float32)


DATASETS = (
    DatasetDefinition(
        name="noise",
        family="arrays",
        description="finite float32 of random bits, which no codec shrinks, chunks of 512 x 512",
        make=_noise,
        default_count=1_000,
    ),
    DatasetDefinition(
        name="constant",
        family="arrays",
        description="float32 of one value, neither 0 nor NaN, chunks of 512 x 512",
        make=_constant,
        default_count=1_000,
    ),
)
