"""Operations on sets of images, random access among them."""

from __future__ import annotations

import functools
import mmap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast, overload

import data_generator
from adapter_core.image_shapes import offsets, shape_row
from data_generator.random_words import RandomWords
from format_bench.families.operations import CatalogOperations, warm_up_file
from format_bench.instruments.clock import seconds_per_item
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from adapter_core import ImageReader, ImageStorage
    from format_bench.verification import Diff

    ImageSet = tuple[Sequence[np.ndarray], np.ndarray]
    """Images and labels."""

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


def write_images(images: Sequence[np.ndarray], labels: Sequence[int], folder: Path) -> None:
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


def load_images(folder: Path) -> tuple[CachedImages, np.ndarray]:
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


class ImageOperations(CatalogOperations):
    """One image storage."""

    family = "images"
    adapter: ImageStorage

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the generated and the real sets."""
        return data_generator.image_names()

    @staticmethod
    def generate(dataset: str, size: int | None) -> ImageSet:
        """Return a set of `size` images and their labels."""
        if size is None:
            raise AssertionError("sets of images are generated in any size")
        found = data_generator.images(dataset, size)
        return cast("ImageSet", (found.images, found.labels))

    @staticmethod
    def store(data: ImageSet, path: Path) -> tuple[int, int]:
        """Store a set as raw bytes; return the number of images, and 2: images and labels."""
        images, labels = data
        write_images(images, cast("Sequence[int]", labels), path)
        return len(images), 2

    @staticmethod
    def load(path: Path) -> tuple[CachedImages, np.ndarray]:
        """Return images and labels, shape (images,)."""
        return load_images(path)

    @staticmethod
    def take(data: ImageSet, positions: Sequence[int]) -> ImageSet:
        """Return the images at some positions, and their labels."""
        images, labels = data
        return [images[position] for position in positions], labels[list(positions)]

    @staticmethod
    def raw_bytes(data: tuple[CachedImages, np.ndarray]) -> int:
        """Return the size of all pixels: all storages of a large set together may fill a disk."""
        return data[0].size_bytes

    def warm_up(self) -> None:
        """Save, read and open a tiny set."""
        _warm_up(self.adapter)

    def check(self, data: ImageSet) -> None:
        """Raise `CannotHoldError` if the storage cannot keep the images."""
        self.adapter.check(data[0])

    def save(self, data: ImageSet, file: Path) -> None:
        """Save the set."""
        images, labels = data
        self.unchecked.save(images, labels, file)

    def compare(self, data: ImageSet, found: ImageSet) -> Diff:
        """Compare the sets image by image; pixels may change as the storage declares."""
        return verify_images(self.adapter, *data, *found)

    def sample(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None,  # noqa: ARG002 (the set is in that state)
        turn: int,
        budget_seconds: float,
    ) -> list[float]:
        """Sample the seconds per image of random reads in one permutation, of a set that is open."""
        size = _IMAGES_PER_CALL[metric]
        with self.adapter.open(file) as reader:
            get: Callable[[Sequence[int]], object] = reader.get_many
            if size == 1:
                get = lambda indices: reader.get(indices[0])  # noqa: E731 (one of two ways)
            return [seconds_per_item(get, _calls(reader, size, turn), budget_seconds)]


OPERATIONS = ImageOperations

# A batch has a usual size in training.
_IMAGES_PER_CALL = {"random read time per image": 1, "batch read time per image": 32}


def _calls(reader: ImageReader, size: int, turn: int) -> list[list[int]]:
    """Return the indices of each call: a permutation of all images, another one in each turn."""
    order = RandomWords("random access", len(reader), turn).words(len(reader)).argsort()
    return [order[first : first + size].tolist() for first in range(0, len(order), size)]


@functools.cache
def _warm_up(adapter: ImageStorage) -> None:
    import numpy as np

    images = [np.full((8, 8, 3), value, np.uint8) for value in range(4)]
    with warm_up_file(adapter.suffix) as path:
        adapter.save(images, range(4), path)
        adapter.read(path)
        with adapter.open(path) as reader:
            reader.get(1)
            reader.get_many([2, 0])
