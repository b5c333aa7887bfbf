"""Random access to the images of an open set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import numpy as np


class ImageReader(ABC):
    """An open set of images; a subclass writes `_get`, and `_get_many` and `close` where it can do more.

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
            If there is no such image; negative indices are none.
        """
        return self._get(self._known(index))

    def get_many(self, indices: Sequence[int] | np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Return images in the order asked for, repeated ones too, and their labels.

        Returns
        -------
        images : list of numpy.ndarray
            uint8 arrays of the shapes saved.
        labels : numpy.ndarray
            Shape (indices,), dtype int64.

        Raises
        ------
        IndexError
            If there is no such image.
        """
        return self._get_many([self._known(index) for index in indices])

    def close(self) -> None:  # noqa: B027 (many readers hold nothing open)
        """Release the file; a second call does nothing."""

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the reader."""
        self.close()

    def _known(self, index: int) -> int:
        if not 0 <= index < self._count:
            raise IndexError(f"there is no image {index} among {self._count}")
        return int(index)

    @abstractmethod
    def _get(self, index: int) -> tuple[np.ndarray, int]:
        """Return an image that is there, and its label."""

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Return images that are there, and their labels: one by one, unless there is a bulk call."""
        import numpy as np

        found = [self._get(index) for index in indices]
        return [image for image, _ in found], np.array([label for _, label in found], np.int64)
