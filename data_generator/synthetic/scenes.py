"""Images that are sections of canvases with noise, and compress like photographs.

Each image has its own contrast, brightness, tint and noise. Images share canvases, but long equal runs
of bytes do not occur: a compressor that processes many images at once gains no more than with
photographs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

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


class Scenes:
    """Generator of the images of a set, called with an image's number.

    Image i depends on the name, the seed and i alone, not on the count or the order of calls. All
    arithmetic is on integers, so pixels are the same on every machine.

    Parameters
    ----------
    name : str
        Part of the key of all random numbers.
    parameters : SceneParameters
        The set's own.
    count : int
        Number of images; about 50 bytes are kept for each.
    seed : int
        Seed of the canvases and of the sections cut from them.
    """

    def __init__(self, name: str, parameters: SceneParameters, count: int, seed: int) -> None:
        import numpy as np

        self._kind = kind = parameters
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
