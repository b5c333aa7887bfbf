"""A set of images that notes how it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np


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
