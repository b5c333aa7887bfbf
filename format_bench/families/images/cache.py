"""A set of images as raw bytes in a folder, for processes that must not make it again."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from adapter_core.image_shapes import offsets, shape_row

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np


_PIXELS, _SHAPES, _LABELS = "pixels", "shapes.npy", "labels.npy"


class CachedImages(Sequence["np.ndarray"]):
    """Images as views of one run of bytes, shape (bytes,), dtype uint8; made when asked for.

    Parameters
    ----------
    flat : numpy.ndarray
        The bytes.
    shapes : numpy.ndarray
        Shape (images, 3), see `adapter_core.image_shapes`.
    """

    def __init__(self, flat: np.ndarray, shapes: np.ndarray) -> None:
        self._flat = flat
        self._shapes: list[list[int]] = shapes.tolist()
        self._begins: list[int] = offsets(shapes).tolist()

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self._shapes)

    @property
    def size_bytes(self) -> int:
        """Raw bytes of all images."""
        return self._begins[-1]

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> list[np.ndarray]: ...
    def __getitem__(self, index: int | slice) -> np.ndarray | list[np.ndarray]:
        """Return an image, or a list of images."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        height, width, channels = self._shapes[index]
        # Of a negative index the end is not the next beginning.
        place = range(len(self))[index]
        pixels = self._flat[self._begins[place] : self._begins[place + 1]]
        return pixels.reshape((height, width, channels) if channels else (height, width))


def write(images: Sequence[np.ndarray], labels: Sequence[int], folder: Path) -> None:
    """Write a set into a new folder, one image at a time."""
    import numpy as np

    folder.mkdir()
    rows = []
    with (folder / _PIXELS).open("wb") as file:
        for image in images:
            rows.append(shape_row(image))
            file.write(image.data)
    np.save(folder / _SHAPES, np.array(rows, np.int64).reshape(len(rows), 3))
    np.save(folder / _LABELS, np.asarray(labels, np.int64))


def load(folder: Path) -> tuple[CachedImages, np.ndarray]:
    """Return the images of a folder and their labels, shape (images,), dtype int64.

    The images are mapped and touched, so that using them reads nothing from the device while there is
    memory for them, and takes no memory beside the page cache.
    """
    import numpy as np

    shapes = np.load(folder / _SHAPES)
    path = folder / _PIXELS
    flat = np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.empty(0, np.uint8)
    np.add.reduce(flat[:: mmap.PAGESIZE], dtype=np.uint64)
    return CachedImages(flat, shapes), np.load(folder / _LABELS)
