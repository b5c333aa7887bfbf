"""Base class of image storages: checks, saving, reading, random access."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.adapter import BaseAdapter
from adapter_core.errors import CannotHoldError
from adapter_core.image_input import CheckedImages, Limits, checked_labels

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_reader import ImageReader


class ImageStorage(BaseAdapter):
    """A way to store images with their labels in a file or a directory.

    Images are uint8 arrays of shape (height, width) or (height, width, channels), one pixel or more;
    a set may contain many shapes. Labels are integers from 0 to 2**31. A subclass implements `_save`,
    `_read` and `_open`, and declares its limits.
    """

    channels: ClassVar[frozenset[int] | None] = None
    """Supported numbers of channels, 0 for greyscale of shape (height, width); None: any."""
    longest_side: ClassVar[int | None] = None
    """Longest supported height or width, in pixels; None: any."""
    equal_shapes_only: ClassVar[bool] = False
    """True if all images of a set must have the same shape."""
    changes_pixels: ClassVar[bool] = False
    """True if the codec is lossy, e.g. JPEG."""
    detects_truncation: ClassVar[bool] = True
    """True if reading a set whose largest file was truncated always raises."""

    def save(
        self,
        images: Sequence[np.ndarray],
        labels: Sequence[int] | np.ndarray,
        path: str | os.PathLike[str],
    ) -> None:
        """Write images and labels, and replace an earlier set at `path`.

        The set is written under a temporary name beside `path` and renamed when complete.

        Parameters
        ----------
        images : sequence of numpy.ndarray
            uint8 arrays of shape (height, width) or (height, width, channels), or one array of shape
            (images, height, width[, channels]). Each is requested once, in order, and not kept: the
            sequence may make them on demand.
        labels : sequence of int
            One integer from 0 to 2**31 for each image.
        path : path-like
            The file, or the directory for storages that write one.

        Raises
        ------
        CannotHoldError
            If images or labels are invalid, or the storage cannot store them as they are. The temporary
            file is removed, and an earlier set at `path` stays.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        path = self._in_folder(path)
        numbers = checked_labels(labels, len(images), self.refusal)
        with self.replacing(path) as temporary:
            self._save(self._checked(images, check=self.checks_saves), numbers, temporary)

    def read(self, path: str | os.PathLike[str]) -> tuple[list[np.ndarray], np.ndarray]:
        """Read all images and labels back, in the order saved.

        Returns
        -------
        images : list of numpy.ndarray
            uint8 arrays of the shapes saved. They may be read-only, and views of common memory, but
            their pixels are in memory, not in a mapped file.
        labels : numpy.ndarray
            Shape (images,), dtype int64.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        return self._read(self._existing(path))

    def open(self, path: str | os.PathLike[str]) -> ImageReader:
        """Open a saved set for random access; close the reader, or use it in a `with` statement.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        return self._open(self._existing(path))

    def check(self, images: Sequence[np.ndarray]) -> None:
        """Raise `CannotHoldError`, with the reason, at the first image that the storage cannot store."""
        for _ in self._checked(images):
            pass

    def refusal(self, reason: str) -> CannotHoldError:
        """Return the error to raise for images that this storage cannot store."""
        return CannotHoldError(f"{self.label} cannot store these images: {reason}")

    def _checked(self, images: Sequence[np.ndarray], *, check: bool = True) -> CheckedImages:
        limits = Limits(self.channels, self.longest_side, self.equal_shapes_only)
        return CheckedImages(images, limits, self.refusal, check=check)

    @abstractmethod
    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        """Write the set to a path that does not exist yet; labels have dtype int64.

        Iterate over `images` once: each item is C-contiguous, and is checked as it comes.
        """

    @abstractmethod
    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        """Read the set."""

    @abstractmethod
    def _open(self, path: Path) -> ImageReader:
        """Open the set."""
