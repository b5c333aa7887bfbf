"""Synthetic images after CIFAR-10 and ImageNet-100.

PNG files of ``cifar-like`` take 0.74 of the raw bytes, as CIFAR-10's do; PNG files of
``imagenet-like`` take 0.60, as ImageNet-100's do.
"""

from __future__ import annotations

from functools import partial

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_images import LazyImages
from data_generator.random_words import RandomWords
from data_generator.synthetic.canvases import CanvasStyle
from data_generator.synthetic.scenes import SceneParameters, Scenes

PARAMETERS = {
    "cifar-like": SceneParameters(
        CanvasStyle("small", leaves=1500, smallest=4, largest=160, roughness=76, persistence=16),
        short_side=32,
        long_sides=(32,),
        classes=10,
        class_by_class=False,
        grey_percent=0,
        noise=4,
    ),
    "imagenet-like": SceneParameters(
        CanvasStyle("large", leaves=1000, smallest=8, largest=224, roughness=60, persistence=13),
        short_side=160,
        # Cameras' 4:3 and 3:2, and others from 1:1 on; 105 kB on average, as in ImageNet-100.
        long_sides=(213,) * 11 + (240,) * 2 + tuple(range(160, 299, 23)),
        classes=100,
        class_by_class=True,
        grey_percent=2,
        noise=4,
    ),
}


def labels(name: str, count: int, seed: int) -> list[int]:
    """Return a label for each image, from 0 on: at random, or sorted with nearly equal shares."""
    kind = PARAMETERS[name]
    if kind.class_by_class:
        return [number * kind.classes // count for number in range(count)]
    return RandomWords(name, "label", seed).integers(kind.classes, count).tolist()


def _images(name: str, count: int, seed: int) -> Dataset:
    made = LazyImages(Scenes(name, PARAMETERS[name], count, seed), range(count))
    return Dataset(name, images=made, labels=labels(name, count, seed))


DATASETS = (
    DatasetDefinition(
        name="cifar-like",
        family="images",
        description="colour images of 32 x 32 pixels, labels in random order, after CIFAR-10",
        make=partial(_images, "cifar-like"),
        default_count=50_000,
    ),
    DatasetDefinition(
        name="imagenet-like",
        family="images",
        description="images of 160 to 298 pixels a side, 2 % grey, sorted by label, after ImageNet-100",
        make=partial(_images, "imagenet-like"),
        default_count=126_689,
        quick_count=200,
    ),
)
