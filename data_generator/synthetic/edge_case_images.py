"""Small sets of images with edge cases of shapes, channels and labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np

    ImageSet = tuple[list[np.ndarray], list[int]]


def random_image(*shape: int, seed: int = 0) -> np.ndarray:
    """Return noise of a shape, dtype uint8, neither constant nor symmetric along any axis."""
    return RandomWords("noise", *shape, seed).integers(256, math.prod(shape)).astype("u1").reshape(shape)


def equal() -> ImageSet:
    """Return 40 colour images of the same shape."""
    return [random_image(32, 32, 3, seed=i) for i in range(40)], [i % 10 for i in range(40)]


def unequal() -> ImageSet:
    """Return 25 colour and greyscale images of many shapes, with sorted labels larger than a byte."""
    shapes = [(20 + i, 50 - i, 3) if i % 5 else (30, 17 + i) for i in range(25)]
    return [random_image(*shape) for shape in shapes], [100 * i for i in range(25)]


def edge_case_images() -> dict[str, ImageSet]:
    """Return sets of images and labels by their names."""
    import numpy as np

    return {
        "equal shapes": equal(),
        "unequal shapes": unequal(),
        "one image": ([random_image(8, 9, 3)], [0]),
        "one pixel": ([random_image(1, 1, 3)] * 3, [1, 2, 3]),
        "one grey pixel": ([np.array([[0]], np.uint8), np.array([[255]], np.uint8)], [1, 2]),
        "no images": ([], []),
        "greyscale": _several(28, 28),
        "one channel": _several(7, 5, 1),
        "two channels": _several(7, 5, 2),
        "four channels": _several(7, 5, 4),
        "five channels": _several(7, 5, 5),
        "transparent": ([np.dstack([random_image(9, 9, 3), np.zeros((9, 9), np.uint8)])], [7]),
        "constant": ([np.full((16, 16, 3), value, np.uint8) for value in (0, 255)], [1, 0]),
        "one row of five channels": _several(1, 7, 5),
        "faint": ([each // 250 for each in _several(16, 16, 3)[0]], [0, 1, 2, 3]),
        "wide and high": ([random_image(1, 3000, 3), random_image(3000, 1, 3)], [5, 6]),
        "large labels": (_several(4, 4, 3)[0], [255, 256, 2**16, 2**31]),
        "equal images": ([random_image(4, 4, 3)] * 5, [3, 1, 2, 3, 3]),
        "zero bytes at both ends": ([np.zeros((5, 5, 3), np.uint8), np.zeros((3, 7), np.uint8)], [0, 0]),
    }


def _several(*shape: int) -> ImageSet:
    return [random_image(*shape, seed=i) for i in range(4)], list(range(4))
