"""SQLite through Python's standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import shape_row
from adapter_core.images.packed import image_of, none_larger

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# A page of 4 KiB, the default, takes one image of 3 kB, and a quarter of it stays empty; pages of 64 KiB
# waste more with images of one and a half pages: https://www.sqlite.org/pragma.html#pragma_page_size
PAGE_BYTES = 2**14

SAVING = f"""
PRAGMA page_size = {PAGE_BYTES};
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE images (
    id INTEGER PRIMARY KEY,
    label INTEGER NOT NULL,
    height INTEGER NOT NULL,
    width INTEGER NOT NULL,
    channels INTEGER NOT NULL,
    pixels BLOB NOT NULL
);
BEGIN;
"""
"""Statements that start a new file; without a journal, since an incomplete file is removed."""

ALL = "SELECT label, height, width, channels, pixels FROM images ORDER BY id"
ONE = "SELECT label, height, width, channels, pixels FROM images WHERE id = ?"
# Bytes that are enough for a row without its pixels.
ROW_BYTES = 64


class Adapter(ImageStorage):
    """One SQLite database with the table `images`, one row an image, its id counted from 0.

    The id is the key of the table itself (https://www.sqlite.org/lang_createtable.html#rowid), without
    an index. Pixels come last: the numbers before them are found without following their pages.
    """

    label = "SQLite"
    suffix = ".sqlite"
    requires = ()
    file_facts = FileFacts(
        version="3",
        parts={"page": "16384 bytes", "journal": "rollback"},
        differs="pages of 16 KiB, since those of 4 KiB leave a quarter empty; no journal and no sync, "
        "since an unfinished file is removed",
    )
    snippet = Snippet(
        imports="import sqlite3\nfrom contextlib import closing\n\nimport numpy as np",
        write="""
            with closing(sqlite3.connect({path})) as database, database:
                database.execute("PRAGMA page_size = 16384")
                database.execute(
                    "CREATE TABLE images (id INTEGER PRIMARY KEY, label INTEGER NOT NULL, "
                    "height INTEGER NOT NULL, width INTEGER NOT NULL, channels INTEGER NOT NULL, "
                    "pixels BLOB NOT NULL)"
                )
                rows = [
                    (index, label, *(*image.shape, 0)[:3], image.tobytes())
                    for index, (label, image) in enumerate(zip(labels.tolist(), images))
                ]
                database.executemany("INSERT INTO images VALUES (?, ?, ?, ?, ?, ?)", rows)
        """,
        read="""
            query = "SELECT label, height, width, channels, pixels FROM images ORDER BY id"
            with closing(sqlite3.connect({path})) as database:
                rows = database.execute(query).fetchall()
            labels = np.array([row[0] for row in rows])
            images = [
                np.frombuffer(pixels, "uint8").reshape(shape if shape[2] else shape[:2])
                for _, *shape, pixels in rows
            ]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.executescript(SAVING)
            most = database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) - ROW_BYTES
            rows = _rows(none_larger(images, most, self.refusal), labels)
            database.executemany("INSERT INTO images VALUES (?, ?, ?, ?, ?, ?)", rows)
            database.execute("COMMIT")

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        with closing(_connect(path)) as database:
            for label, *shape, pixels in database.execute(ALL):
                images.append(image_of(pixels, shape))
                labels.append(label)
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _SQLiteReader(_connect(path))


class _SQLiteReader(ImageReader):
    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        # Counting would read every page; the largest key is on the last one.
        (largest,) = database.execute("SELECT max(id) FROM images").fetchone()
        super().__init__(0 if largest is None else largest + 1)

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        label, *shape, pixels = self._database.execute(ONE, (index,)).fetchone()
        return image_of(pixels, shape), label

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _rows(images: Iterator[np.ndarray], labels: np.ndarray) -> Iterator[tuple[object, ...]]:
    # sqlite3 stores NumPy's integers as blobs, hence the list.
    for index, (label, image) in enumerate(zip(labels.tolist(), images, strict=True)):
        yield index, label, *shape_row(image), image


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database for reading."""
    # In one transaction, queries need not lock the file one by one.
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    database.execute("BEGIN")
    return database
