"""Sequence of images that are generated or decoded at each access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np


class LazyImages(Sequence["np.ndarray"]):
    """Sequence that creates an image at each access and does not keep it; slices are lazy as well.

    Parameters
    ----------
    make : callable
        Called with an image's number, returns the image.
    numbers : range
        Numbers of the images in this sequence.
    """

    def __init__(self, make: Callable[[int], np.ndarray], numbers: range) -> None:
        self._make = make
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...

    @overload
    def __getitem__(self, index: slice) -> LazyImages: ...

    def __getitem__(self, index: int | slice) -> np.ndarray | LazyImages:
        numbers = self._numbers[index]
        if isinstance(numbers, range):
            return LazyImages(self._make, numbers)
        return self._make(numbers)
