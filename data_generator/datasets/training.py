"""Samples to train a model on: images, images with masks, windows of weather, rows, embeddings, texts.

All but the texts are samples of other data sets: ``imagenet-like`` as JPEG files, ``era5-small``,
``webface`` and ``embeddings``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from adapter_core.sample_set import SampleKind
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.datasets import embeddings, era5, scenes, webface
from data_generator.splitmix import SplitMix, below
from data_generator.synthetic.uniform_columns import ENGLISH_NOUNS
from data_generator.training_samples import PictureSamples, TableSamples, WindowSamples

if TYPE_CHECKING:
    import pandas as pd

# Hours of a window: a forecast from the last few.
WINDOW = 4

# Texts have 8 to 1,023 words, with equal chances of each doubling: many are short and few are long, as
# documents of the web are.
_SHORTEST_WORDS, _DOUBLINGS = 8, 7
_CLASSES = 10


def _pictures(name: str, count: int, seed: int) -> Dataset:
    found = _named("imagenet-like", scenes.DATASETS).make(count, seed)
    with_masks = name == "training-masks"
    samples = PictureSamples(found.images or [], found.labels or [], with_masks=with_masks)
    return Dataset(name, samples=samples)


def _windows(name: str, count: int, seed: int) -> Dataset:
    array = _named("era5-small", era5.DATASETS).make(count + WINDOW - 1, seed).array
    if array is None:
        raise AssertionError("era5-small is an array")
    return Dataset(name, samples=WindowSamples(array, WINDOW))


def _faces(rows: int, seed: int) -> pd.DataFrame:
    found = webface.generate(rows, seed).df
    if found is None:
        raise AssertionError("webface is a table")
    return found


def _vectors(rows: int, seed: int) -> pd.DataFrame:
    return embeddings.rows_of_embeddings(0, rows, seed)[["id", "embedding"]]


def _texts(rows: int, seed: int) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    shortest = _SHORTEST_WORDS << below(_DOUBLINGS, SplitMix(seed, 1).words(0, rows)).astype(np.int64)
    longer = below(1 << 16, SplitMix(seed, 2).words(0, rows)).astype(np.int64)
    lengths = shortest + (shortest * longer >> 16)
    chosen = below(len(ENGLISH_NOUNS), SplitMix(seed, 3).words(0, int(lengths.sum()))).tolist()
    texts = [
        " ".join(ENGLISH_NOUNS[noun] for noun in chosen[end - length : end])
        for length, end in zip(lengths.tolist(), lengths.cumsum().tolist(), strict=True)
    ]
    classes = below(_CLASSES, SplitMix(seed, 4).words(0, rows)).astype(np.int64)
    return pd.DataFrame({"text": texts, "class": classes})


_TABLES = {
    "training-rows": (SampleKind.ROW, _faces),
    "training-embeddings": (SampleKind.EMBEDDING, _vectors),
    "training-texts": (SampleKind.TEXT, _texts),
}


def _rows(name: str, count: int, seed: int) -> Dataset:
    kind, make = _TABLES[name]
    return Dataset(name, samples=TableSamples(kind, partial(make, seed=seed), count))


def _named(name: str, definitions: tuple[DatasetDefinition, ...]) -> DatasetDefinition:
    return next(each for each in definitions if each.name == name)


def _definition(
    name: str,
    description: str,
    make: Callable[[str, int, int], Dataset],
    default_count: int,
    requires: tuple[str, ...] = (),
) -> DatasetDefinition:
    return DatasetDefinition(
        name=name,
        family="training",
        description=description,
        make=partial(make, name),
        default_count=default_count,
        requires=requires,
    )


_PICTURES = ("pillow",)

DATASETS = (
    _definition(
        "training-images",
        "JPEG files of imagenet-like with labels, decoded and cut to 128 x 128 pixels",
        _pictures,
        20_000,
        _PICTURES,
    ),
    _definition(
        "training-masks",
        "the same with a mask of 4 classes for each image, a PNG file",
        _pictures,
        20_000,
        _PICTURES,
    ),
    _definition(
        "training-windows",
        f"windows of {WINDOW} hours of era5-small, {WINDOW} x 3 x 140 x 360 float32",
        _windows,
        893,
    ),
    _definition("training-rows", "rows of webface: 27 numbers and 6 texts", _rows, 100_000),
    _definition("training-embeddings", "embeddings of 384 float32 with their ids", _rows, 100_000),
    _definition("training-texts", "texts of 8 to 1,023 words with a class", _rows, 50_000),
)
