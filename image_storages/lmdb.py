"""LMDB through py-lmdb."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import SHAPE_DTYPE, shape_row
from adapter_core.images.packed import image_of, none_larger, split

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Largest size of the file. The map takes address space only:
# https://lmdb.readthedocs.io/en/release/#environment-class
MAP_BYTES = 2**40

# The pages of a transaction stay in memory until it ends, and are reused by the next one: transactions
# of 64 MiB took nearly twice the time.
TRANSACTION_BYTES = 2**20

# MAXDATASIZE of https://github.com/LMDB/lmdb/blob/mdb.master/libraries/liblmdb/mdb.c
MOST_BYTES = 2**32 - 1

IMAGES, NOTES = b"images", b"notes"
SHAPES, LABELS = b"shapes", b"labels"
LABEL_DTYPE = "<i8"

# Big-endian, since keys are sorted by their bytes: each image is appended to the last page.
KEY = struct.Struct(">I")


class Adapter(ImageStorage):
    """One LMDB file of two databases: `images`, pixels by number, and `notes`, all shapes and labels.

    A value of more than half a page has pages of 4 KiB to itself: 3 kB take 4 KiB. Images are copied
    from the mapped file, whose pages count as memory of the process, too, while it is open.
    """

    label = "LMDB"
    suffix = ".lmdb"
    requires = ("lmdb",)
    file_facts = FileFacts(silent="its pages name no settings")
    snippet = Snippet(
        imports="import lmdb\nimport numpy as np",
        write="""
            options = {"subdir": False, "lock": False, "sync": False, "max_dbs": 2}
            with lmdb.open({path}, map_size=2**40, **options) as environment:
                pixels, notes = environment.open_db(b"images"), environment.open_db(b"notes")
                with environment.begin(pixels, write=True) as transaction:
                    for index, image in enumerate(images):
                        transaction.put(index.to_bytes(4, "big"), image.tobytes(), append=True)
                shapes = np.array([(*each.shape, 0)[:3] for each in images], "<u4")
                with environment.begin(notes, write=True) as transaction:
                    transaction.put(b"shapes", shapes.tobytes())
                    transaction.put(b"labels", labels.astype("<i8").tobytes())
        """,
        read="""
            with lmdb.open({path}, subdir=False, lock=False, readonly=True, max_dbs=2) as environment:
                pixels, notes = environment.open_db(b"images"), environment.open_db(b"notes")
                with environment.begin(notes) as transaction:
                    labels = np.frombuffer(transaction.get(b"labels"), "<i8")
                    shapes = np.frombuffer(transaction.get(b"shapes"), "<u4").reshape(-1, 3).tolist()
                with environment.begin(pixels) as transaction:
                    values = list(transaction.cursor().iternext(keys=False))
            images = [
                np.frombuffer(value, "uint8").reshape(shape if shape[2] else shape[:2])
                for value, shape in zip(values, shapes)
            ]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import lmdb
        import numpy as np

        options: dict[str, Any] = {"subdir": False, "lock": False, "sync": False, "max_dbs": 2}
        with lmdb.open(str(path), map_size=MAP_BYTES, **options) as environment:
            pixels, notes = environment.open_db(IMAGES), environment.open_db(NOTES)
            rows: list[tuple[int, int, int]] = []
            items = _items(none_larger(images, MOST_BYTES, self.refusal), rows)
            for first in items:
                with environment.begin(pixels, write=True) as transaction:
                    transaction.cursor().putmulti(chain([first], _portion(items)), append=True)
            with environment.begin(notes, write=True) as transaction:
                transaction.put(SHAPES, np.array(rows, SHAPE_DTYPE).tobytes())
                transaction.put(LABELS, labels.astype(LABEL_DTYPE).tobytes())

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        with closing(_OpenFile(path, readahead=True)) as file:
            with file.environment.begin(file.images, buffers=True) as transaction:
                pixels = b"".join(transaction.cursor().iternext(keys=False))
            return split(np.frombuffer(pixels, np.uint8), file.shapes), file.labels

    def _open(self, path: Path) -> ImageReader:
        return _LMDBReader(_OpenFile(path, readahead=False))


Item = tuple[bytes, memoryview]


def _items(images: Iterable[np.ndarray], rows: list[tuple[int, int, int]]) -> Iterator[Item]:
    """Yield each image under its key, and append its shape to the rows."""
    for index, image in enumerate(images):
        rows.append(shape_row(image))
        yield KEY.pack(index), image.data


def _portion(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of one transaction."""
    filled = 0
    while filled < TRANSACTION_BYTES and (item := next(items, None)):
        yield item
        filled += item[1].nbytes


class _LMDBReader(ImageReader):
    def __init__(self, file: _OpenFile) -> None:
        self._file = file
        self._transaction = file.environment.begin(file.images)
        self._shapes, self._labels = file.shapes.tolist(), file.labels
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        value = self._transaction.get(KEY.pack(index))
        return image_of(value, self._shapes[index]), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        found = self._transaction.cursor().getmulti(map(KEY.pack, indices))
        images = [image_of(v, self._shapes[i]) for (_, v), i in zip(found, indices, strict=True)]
        return images, self._labels[np.array(indices, np.intp)]

    def close(self) -> None:
        """End the transaction and close the file."""
        self._transaction.abort()
        self._file.close()


class _OpenFile:
    """A file open for reading: its environment, the database of images, shapes and labels.

    py-lmdb can open a file once in a process, hence readers of one file share the environment.
    """

    _shared: ClassVar[dict[tuple[int, int], tuple[Any, int]]] = {}
    """Environment and number of users, by device and inode."""
    _lock = Lock()

    def __init__(self, path: Path, *, readahead: bool) -> None:
        import lmdb
        import numpy as np

        status = path.stat()
        self._key = status.st_dev, status.st_ino
        with self._lock:
            environment, users = self._shared.get(self._key, (None, 0))
            if environment is None:
                environment = lmdb.open(
                    str(path), subdir=False, lock=False, readonly=True, readahead=readahead, max_dbs=2
                )
            self._shared[self._key] = environment, users + 1
        self.environment = environment
        self._is_open = True
        try:
            self._check_size(status.st_size)
            self.images, notes = (self.environment.open_db(name) for name in (IMAGES, NOTES))
            with self.environment.begin(notes) as transaction:
                self.shapes = np.frombuffer(transaction.get(SHAPES), SHAPE_DTYPE).reshape(-1, 3)
                self.labels = np.frombuffer(transaction.get(LABELS), LABEL_DTYPE)
        except BaseException:
            self.close()
            raise

    def _check_size(self, size: int) -> None:
        """Raise ValueError for a truncated file, since reading its mapped pages ends the process."""
        needed = (self.environment.info()["last_pgno"] + 1) * self.environment.stat()["psize"]
        if size < needed:
            raise ValueError(f"the file has {size} bytes, and its pages take {needed}")

    def close(self) -> None:
        """Close the file unless another reader has it open."""
        if not self._is_open:
            return
        self._is_open = False
        with self._lock:
            environment, users = self._shared.pop(self._key)
            if users > 1:
                self._shared[self._key] = environment, users - 1
            else:
                environment.close()
