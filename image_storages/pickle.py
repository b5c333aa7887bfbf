"""Python's pickle."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

PROTOCOL = 5
"""Moves the bytes of an array in one piece: https://peps.python.org/pep-0574"""

LIST_BYTES = 2**15
"""What each array needs besides its bytes, a list of arrays needs once: of images of 3 kB, lists of this
size are read in 0.4 of the time of single ones, while reaching one image takes three times as long."""


class Adapter(ImageStorage):
    """One file of pickles, one after the other: labels and places, then lists of images, NumPy arrays.

    A single pickle could only be written with all images in memory, and only be read as a whole.
    A place is where the list begins that an image is in, and its number in that list. All places take
    the same room whatever they are, and are written again, into it, when they are known.

    Loading a pickle runs code from the file: open no file from a source that you do not trust.

    Format: https://docs.python.org/3/library/pickle.html
    """

    label = "Pickle"
    suffix = ".pkl"
    requires = ("numpy",)

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import numpy as np

        places = np.zeros((len(images), 2), np.int64)
        done = 0
        with path.open("wb") as file:
            pickle.dump((labels, places), file, PROTOCOL)
            for some in _lists(images):
                rows = places[done : done + len(some)]
                rows[:, 0], rows[:, 1] = file.tell(), range(len(some))
                pickle.dump(some, file, PROTOCOL)
                done += len(some)
            file.seek(0)
            pickle.dump((labels, places), file, PROTOCOL)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        images: list[np.ndarray] = []
        with path.open("rb") as file:
            labels, _ = pickle.load(file)  # noqa: S301 (the risk is in the docstring)
            while len(images) < len(labels):
                images += pickle.load(file)  # noqa: S301
        return images, labels

    def _open(self, path: Path) -> ImageReader:
        return _Reader(path)


def _lists(images: CheckedImages) -> Iterator[list[np.ndarray]]:
    """Yield all images in lists of at most `LIST_BYTES`, or of one image."""
    import numpy as np

    some: list[np.ndarray] = []
    size_bytes = 0
    for image in images:
        if some and size_bytes + image.nbytes > LIST_BYTES:
            yield some
            some, size_bytes = [], 0
        if image.nbytes > LIST_BYTES:
            yield [np.asarray(image)]
        else:
            # The next image may be made in the same memory.
            some.append(np.array(image))
            size_bytes += image.nbytes
    if some:
        yield some


class _Reader(ImageReader):
    """Keeps the file mapped, and labels and places in memory."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        with path.open("rb") as file:
            self._labels, self._places = pickle.load(file)  # noqa: S301
        # As a plain array, since each slice of a memmap costs several times that of one.
        self._pickles = np.memmap(path, np.uint8, "r").view(np.ndarray)
        super().__init__(len(self._labels))

    def _images_from(self, begin: int) -> list[np.ndarray]:
        return pickle.loads(self._pickles[begin:].data)  # noqa: S301 (what follows a pickle is ignored)

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        begin, number = self._places[index].tolist()
        return self._images_from(begin)[number], int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        places = self._places[indices].tolist() if indices else []
        lists = {begin: self._images_from(begin) for begin in {begin for begin, _ in places}}
        images = [lists[begin][number] for begin, number in places]
        return images, self._labels[indices] if indices else self._labels[:0]

    def close(self) -> None:
        """Let go of the file."""
        self._pickles = self._pickles[:0].copy()
