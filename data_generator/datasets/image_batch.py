"""Synthetic images in one array of bytes, as image classifiers are trained on them.

Images come from `data_generator.synthetic.scenes`, with the parameters of ``imagenet-like`` but of
one shape, 224 x 224 pixels, the usual input of classifiers of ImageNet.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.datasets.scenes import PARAMETERS
from data_generator.lazy_arrays import stepwise
from data_generator.synthetic.scenes import Scenes

if TYPE_CHECKING:
    import numpy as np


NAME = "image-batch"
SIDE = 224


def _array(count: int, seed: int) -> Dataset:
    array = stepwise(
        partial(_image, count, seed),
        count,
        (SIDE, SIDE, 3),
        "uint8",
        name="images",
        dims=("image", "row", "column", "channel"),
        attributes={"long_name": "images in red, green and blue"},
    )
    return Dataset(NAME, array=array)


def _image(count: int, seed: int, number: int) -> np.ndarray:
    return _scenes(count, seed)(number)


@lru_cache(maxsize=2)
def _scenes(count: int, seed: int) -> Scenes:
    parameters = replace(
        PARAMETERS["imagenet-like"], short_side=SIDE, long_sides=(SIDE,), grey_percent=0
    )
    return Scenes(NAME, parameters, count, seed)


DATASETS = (
    DatasetDefinition(
        name=NAME,
        family="arrays",
        description="colour images of 224 x 224 pixels, chunks of one image, uint8",
        make=_array,
        default_count=6_000,
    ),
)
