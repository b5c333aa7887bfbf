"""Sets of images that storages are tried on: ordinary ones, and the unusual ones that users bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

Set = tuple[list[np.ndarray], list[int]]


def random_image(*shape: int, seed: int = 0) -> np.ndarray:
    """Return noise, uint8 of that shape; it is neither constant nor symmetric in any axis."""
    return np.random.default_rng([seed, *shape]).integers(0, 256, shape, dtype=np.uint8)


def equal() -> Set:
    """Return 40 colour images of one shape."""
    return [random_image(32, 32, 3, seed=i) for i in range(40)], [i % 10 for i in range(40)]


def unequal() -> Set:
    """Return 25 colour and greyscale images of many shapes, labels sorted and beyond a byte."""
    shapes = [(20 + i, 50 - i, 3) if i % 5 else (30, 17 + i) for i in range(25)]
    return [random_image(*shape) for shape in shapes], [100 * i for i in range(25)]


def sets() -> dict[str, Set]:
    """Return sets of images and labels by name."""
    return {
        "equal shapes": equal(),
        "unequal shapes": unequal(),
        "one image": ([random_image(8, 9, 3)], [0]),
        "one pixel": ([random_image(1, 1, 3)] * 3, [1, 2, 3]),
        "one grey pixel": ([np.array([[0]], np.uint8), np.array([[255]], np.uint8)], [1, 2]),
        "no images": ([], []),
        "greyscale": ([random_image(28, 28, seed=i) for i in range(6)], list(range(6))),
        "one channel": ([random_image(7, 5, 1, seed=i) for i in range(4)], list(range(4))),
        "two channels": ([random_image(7, 5, 2, seed=i) for i in range(4)], list(range(4))),
        "four channels": ([random_image(7, 5, 4, seed=i) for i in range(4)], list(range(4))),
        "five channels": ([random_image(7, 5, 5, seed=i) for i in range(4)], list(range(4))),
        "transparent": ([np.dstack([random_image(9, 9, 3), np.zeros((9, 9), np.uint8)])], [7]),
        "constant": ([np.full((16, 16, 3), value, np.uint8) for value in (0, 255)], [1, 0]),
        "wide and high": ([random_image(1, 3000, 3), random_image(3000, 1, 3)], [5, 6]),
        "large labels": ([random_image(4, 4, 3, seed=i) for i in range(4)], [255, 256, 2**16, 2**31]),
        "equal images": ([random_image(4, 4, 3)] * 5, [3, 1, 2, 3, 3]),
        "zero bytes at both ends": ([np.zeros((5, 5, 3), np.uint8), np.zeros((3, 7), np.uint8)], [0, 0]),
    }


class MadeOnDemand(Sequence[np.ndarray]):
    """A sequence that makes its images as they are asked for, and notes which."""

    def __init__(self, images: list[np.ndarray]) -> None:
        self.images = images
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.images)

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[np.ndarray]: ...
    def __getitem__(self, index):
        self.asked.append(index)
        return self.images[index].copy()

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[index] for index in range(len(self.images)))
