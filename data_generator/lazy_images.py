"""Images that are made or decoded when asked for, and not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np


class LazyImages(Sequence["np.ndarray"]):
    """A sequence that makes image i each time it is asked for it; slices are such sequences too.

    Parameters
    ----------
    make : callable
        Returns the image of a number.
    numbers : range
        The numbers of the images that this sequence has.
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
