"""Synthetic images after CIFAR-10 and ImageNet-100: sections of canvases with noise.

Each image has its own contrast, brightness, tint and noise. Images share canvases, but long equal runs
of bytes do not occur: a compressor that processes many images at once gains no more than with
photographs. PNG files of ``cifar-like`` take 0.74 of the raw bytes, as those of CIFAR-10 do; those of
``imagenet-like`` take 0.60, as those of ImageNet-100 do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_images import LazyImages
from data_generator.random_words import RandomWords
from data_generator.synthetic.canvases import CANVASES, SIDE, CanvasStyle, canvases

if TYPE_CHECKING:
    import numpy as np


# Number of positions in the bank of noise at which an image's section may start.
NOISE_STARTS = 2**20


@dataclass(frozen=True)
class SceneParameters:
    """Parameters of a set of images; style and noise are fitted to the sizes of real PNG files."""

    style: CanvasStyle
    short_side: int
    """Pixels."""
    long_sides: tuple[int, ...]
    """Pixels; all elements are drawn with equal probability."""
    classes: int
    class_by_class: bool
    """Images are sorted by label."""
    grey_percent: int
    noise: int
    """Largest standard deviation of the noise, in units of about 74/64."""


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


class Scenes:
    """Generator of the images of a set, called with an image's number.

    Image i depends on the name, the seed and i alone, not on the count or the order of calls. All
    arithmetic is that of integers, so pixels are the same on every machine.

    Parameters
    ----------
    name : str
        One of `PARAMETERS`.
    count : int
        Number of images; about 50 bytes are kept for each.
    seed : int
        Seed of the canvases and of the sections cut from them.
    """

    def __init__(self, name: str, count: int, seed: int) -> None:
        import numpy as np

        self._kind = kind = PARAMETERS[name]
        self._seed = seed

        def draw(what: str, limit: int) -> np.ndarray:
            return RandomWords(name, what, seed).integers(limit, count).astype(np.int32)

        self._canvas = draw("canvas", CANVASES)
        self._width = np.array(kind.long_sides, np.int32)[draw("long side", len(kind.long_sides))]
        self._height = np.full(count, kind.short_side, np.int32)
        upright = draw("upright", 2) == 1
        self._width[upright], self._height[upright] = self._height[upright], self._width[upright]
        self._top = draw("top", 2**16) * (SIDE - self._height + 1) >> 16
        self._left = draw("left", 2**16) * (SIDE - self._width + 1) >> 16
        self._step = 1 - 2 * draw("mirrored", 2)
        self._grey = draw("grey", 100) < kind.grey_percent
        contrast = 64 + draw("contrast", 65)
        tints = [draw(f"tint {channel}", 9) for channel in range(3)]
        self._gains = (contrast - tints).T.astype(np.int16)
        self._bias = (draw("brightness", 2**16) * (256 - 2 * contrast) >> 16).astype(np.int16)
        self._noise = 1 + draw("noise", kind.noise).astype(np.int16)
        self._noise_start = draw("noise start", NOISE_STARTS)

    def __call__(self, number: int) -> np.ndarray:
        """Return an image, shape (height, width, 3), or (height, width) if grey; dtype uint8."""
        import numpy as np

        top, left = self._top[number], self._left[number]
        canvas = canvases(self._kind.style, self._seed)[self._canvas[number]]
        window = canvas[top : top + self._height[number], left : left + self._width[number]]
        window, gains = window[:, :: self._step[number]], self._gains[number]
        if self._grey[number]:
            window, gains = window[:, :, 1], gains[1:2]
        # Gains are at most 128, in units of 1/128: products fit in 16 bits.
        # Products of uint8 and int16 are int16, with half of the memory traffic of int32.
        image = window * gains
        image >>= 7
        start = self._noise_start[number]
        noise = _noise(self._seed)[start : start + image.size].reshape(image.shape) * self._noise[number]
        noise >>= 6
        image += noise
        image += self._bias[number]
        return image.clip(0, 255, out=image).astype(np.uint8)


@lru_cache(maxsize=2)
def _noise(seed: int) -> np.ndarray:
    """Return a bank of nearly normal noise with standard deviation 74; dtype int16, read-only."""
    import numpy as np

    size = NOISE_STARTS + SIDE * SIDE * 3
    bank = (
        RandomWords("noise", seed)
        .words(size // 2)
        .view(np.int8)
        .reshape(size, 4)
        .sum(axis=1, dtype=np.int16)
    )
    bank >>= 1
    bank.flags.writeable = False
    return bank


def _images(name: str, count: int, seed: int) -> Dataset:
    made = LazyImages(Scenes(name, count, seed), range(count))
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
