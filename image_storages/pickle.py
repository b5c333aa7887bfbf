"""Python's pickle."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Protocol that moves the bytes of an array in one piece: https://peps.python.org/pep-0574
PROTOCOL = 5

# A list of arrays has the overhead of an array once: with images of 3 kB, lists of this size are read in
# 0.4 of the time of single ones, while random access takes three times as long.
LIST_BYTES = 2**15


class Adapter(ImageStorage):
    """One file of consecutive pickles: labels and positions, then lists of images as NumPy arrays.

    A single pickle could only be written with all images in memory, and only be read as a whole. The
    position of an image is the start of its list in the file, and its number in that list. The positions
    have a fixed size, and are written again when all are known.

    Loading a pickle runs code from the file: open files from trusted sources only.

    Format: https://docs.python.org/3/library/pickle.html
    """

    label = "Pickle"
    suffix = ".pkl"
    requires = ("numpy",)
    file_facts = FileFacts(version="protocol 5")
    snippet = Snippet(
        imports="import pickle",
        write="""
            with open({path}, "wb") as file:
                pickle.dump((images, labels), file, protocol=5)
        """,
        read="""
            with open({path}, "rb") as file:
                images, labels = pickle.load(file)
        """,
        given=Given.IMAGES,
        differs="FormatBench's own files are many pickles and their places, to read one image",
        notes=("reading a pickle runs code in it: read no file from others",),
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import numpy as np

        positions = np.zeros((len(images), 2), np.int64)
        done = 0
        with path.open("wb") as file:
            pickle.dump((labels, positions), file, PROTOCOL)
            for some in _lists(images):
                rows = positions[done : done + len(some)]
                rows[:, 0], rows[:, 1] = file.tell(), range(len(some))
                pickle.dump(some, file, PROTOCOL)
                done += len(some)
            file.seek(0)
            pickle.dump((labels, positions), file, PROTOCOL)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        images: list[np.ndarray] = []
        with path.open("rb") as file:
            labels, _ = pickle.load(file)  # noqa: S301 (the risk is in the docstring)
            while len(images) < len(labels):
                images += pickle.load(file)  # noqa: S301
        return images, labels

    def _open(self, path: Path) -> ImageReader:
        return _PickleReader(path)


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


class _PickleReader(ImageReader):
    """Keeps the file mapped, and labels and positions in memory."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        with path.open("rb") as file:
            self._labels, self._positions = pickle.load(file)  # noqa: S301
        # As a plain array, since slicing a memmap costs several times as much.
        self._pickles = np.memmap(path, np.uint8, "r").view(np.ndarray)
        super().__init__(len(self._labels))

    def _images_from(self, start: int) -> list[np.ndarray]:
        return pickle.loads(self._pickles[start:].data)  # noqa: S301 (bytes behind a pickle are ignored)

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        start, number = self._positions[index].tolist()
        return self._images_from(start)[number], int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        positions = self._positions[indices].tolist() if indices else []
        lists = {start: self._images_from(start) for start in {start for start, _ in positions}}
        images = [lists[start][number] for start, number in positions]
        return images, self._labels[indices] if indices else self._labels[:0]

    def close(self) -> None:
        """Release the file."""
        self._pickles = self._pickles[:0].copy()
