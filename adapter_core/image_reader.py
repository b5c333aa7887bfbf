"""Base class for random access to a saved set of images."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapter_core.reader import Reader

if TYPE_CHECKING:
    import numpy as np


class ImageReader(Reader):
    """An open set of images.

    A subclass implements `_get`; it may override `_get_many` for bulk access, and `close`.

    Parameters
    ----------
    count : int
        Number of images in the set.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        """Return the number of images."""
        return self._count

    def get(self, index: int) -> tuple[np.ndarray, int]:
        """Return one image, uint8 of the shape saved, and its label.

        Raises
        ------
        IndexError
            If the index is negative, or not below the number of images.
        """
        return self._get(self._known(index))

    def get_many(self, indices: Sequence[int] | np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Return images in the requested order, with repetitions, and their labels.

        Returns
        -------
        images : list of numpy.ndarray
            uint8 arrays of the shapes saved.
        labels : numpy.ndarray
            Shape (indices,), dtype int64.

        Raises
        ------
        IndexError
            If an index is negative, or not below the number of images.
        """
        return self._get_many([self._known(index) for index in indices])

    def _known(self, index: int) -> int:
        if not 0 <= index < self._count:
            raise IndexError(f"there is no image {index} among {self._count}")
        return int(index)

    @abstractmethod
    def _get(self, index: int) -> tuple[np.ndarray, int]:
        """Return the image and the label at a valid index."""

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the images and labels at valid indices; one by one by default."""
        import numpy as np

        found = [self._get(index) for index in indices]
        return [image for image, _ in found], np.array([label for _, label in found], np.int64)
