"""DuckDB through its Python library and Arrow record batches."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import sizes
from adapter_core.images import arrow
from adapter_core.images.packed import image_of

if TYPE_CHECKING:
    import duckdb
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Rows that DuckDB processes at once, and its smallest row group:
# https://duckdb.org/docs/stable/sql/statements/attach.html
VECTOR_ROWS = 2048

# Memory for blocks of the file during a read, besides the rows that are being read. By default DuckDB
# takes up to 80 % of the machine's memory, which would count as memory of the read.
CACHE_BYTES = 256 * 2**20


class Adapter(ImageStorage):
    """A DuckDB file with the table `images`, one row an image, its pixels a BLOB.

    Columns: see `adapter_core.images.arrow`. Blocks are not compressed, since DuckDB would try its
    codecs on each. By default a row group has 122,880 rows, all in memory until it is complete; here it
    has the minimum, 2,048, which bounds the memory of a save. Several threads would each leave
    half-empty blocks. An image is found by its row number (`rowid`).

    Settings: https://duckdb.org/docs/stable/configuration/overview.html
    """

    label = "DuckDB"
    suffix = ".duckdb"
    requires = ("duckdb>=2", "pyarrow>=15")
    file_facts = FileFacts(
        version="999",
        threads="all cores",
        differs="one thread, as it finds images faster than two; row groups of 2,048 rows, uncompressed",
    )
    snippet = (
        "it limits memory and row groups by settings of the database; the table format DuckDB has "
        "the code, for a table with a column of pixels as bytes"
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        with (
            closing(_connection(path, f"ROW_GROUP_SIZE {VECTOR_ROWS}")) as connection,
            arrow.record_reader(images, labels, arrow.image_schema()) as reader,
        ):
            connection.execute("SET force_compression = 'uncompressed'")
            connection.execute("SET write_buffer_row_group_count = 1")
            connection.register("given", reader)
            connection.execute("CREATE TABLE file.images AS FROM given")

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        with closing(_connection(path, "READ_ONLY")) as connection:
            shapes, labels = _shapes_and_labels(connection)
            bytes_each = sizes(shapes)
            vectors = range(0, len(shapes), VECTOR_ROWS)
            largest = max((int(bytes_each[i : i + VECTOR_ROWS].sum()) for i in vectors), default=0)
            # By default, the cache would grow to the whole file, beside the images.
            connection.execute(f"SET memory_limit = '{CACHE_BYTES + largest * 3 // 2} B'")
            connection.execute("SET arrow_large_buffer_size = true")
            query = connection.sql("SELECT image FROM file.images")
            return arrow.images_of_shapes(
                query.to_arrow_reader(arrow.rows_a_batch(shapes)), shapes
            ), labels

    def _open(self, path: Path) -> ImageReader:
        return _DuckDBReader(_connection(path, "READ_ONLY"))


class _DuckDBReader(ImageReader):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._shapes, self._labels = _shapes_and_labels(connection)
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        query = "SELECT image FROM file.images WHERE rowid = ?"
        ((pixels,),) = self._connection.execute(query, [index]).fetchall()
        return image_of(pixels, self._shapes[index].tolist()), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        query = "SELECT rowid, image FROM file.images WHERE rowid IN (SELECT unnest(?::BIGINT[]))"
        pixels = dict(self._connection.execute(query, [indices]).fetchall())
        chosen = np.array(indices, np.intp)
        rows = self._shapes[chosen].tolist()
        images = [image_of(pixels[i], row) for i, row in zip(indices, rows, strict=True)]
        return images, self._labels[chosen]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connection(path: Path, options: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    # A database of its own, to which the file is attached: DuckDB shares one per path in a process.
    connection = duckdb.connect()
    try:
        # One thread also finds an image faster than two that wait for each other.
        connection.execute("SET threads = 1")
        connection.execute(f"SET temp_directory = {_literal(f'{path}.tmp')}")
        connection.execute(f"ATTACH {_literal(path)} AS file ({options})")
    except BaseException:
        connection.close()
        raise
    return connection


def _literal(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _shapes_and_labels(connection: duckdb.DuckDBPyConnection) -> tuple[np.ndarray, np.ndarray]:
    names = ", ".join([*arrow.SHAPE_COLUMNS, "label"])
    query = connection.sql(f"SELECT {names} FROM file.images")  # noqa: S608 (constants)
    table = query.to_arrow_table()
    return arrow.shapes_of(table), table.column("label").to_numpy()
