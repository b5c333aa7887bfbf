"""A set of images that notes how it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


class MadeOnDemand(Sequence[np.ndarray]):
    """A sequence that makes its images as they are asked for, and notes which."""

    def __init__(self, images: list[np.ndarray]) -> None:
        self.images = images
        self.asked: list[Any] = []

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: Any) -> Any:
        self.asked.append(index)
        return self.images[index].copy()

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[index] for index in range(len(self.images)))
