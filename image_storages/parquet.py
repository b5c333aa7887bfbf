"""Parquet through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.images import arrow
from adapter_core.images.packed import image_of, none_larger

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from adapter_core.image_input import CheckedImages

# Random access reads and decodes a row group. With 30,720 kB of images of 3 kB, groups of 256 KiB took a
# third of the time of groups of 1 MiB, and smaller ones made full reads slower.
ROW_GROUP_BYTES = 2**18

# Read at once, or buffered beforehand, all rows would be in memory twice for a time.
GROUPS_AT_A_TIME = 32

# Size of the largest image; a page's is an i32:
# https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
MOST_BYTES = 2**31 - 64


class Adapter(ImageStorage):
    """One Parquet file, one row an image, uncompressed; columns: see `adapter_core.images.arrow`.

    Pixels are plain bytes: a dictionary would search for equal images, and statistics would compare
    them.
    """

    label = "Parquet"
    suffix = ".parquet"
    requires = ("pyarrow>=15",)
    file_facts = FileFacts(
        version="2.6",
        parts={"encodings": "PLAIN, RLE", "page index": "no"},
        threads="all cores",
        differs="no codec; row groups of 256 KiB for random access; no dictionaries, no statistics",
    )
    snippet = Snippet(
        imports="import numpy as np\nimport pyarrow as pa\nimport pyarrow.parquet as pq",
        write=arrow.CODE_OF_TABLE
        + cleandoc("""
            options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
            rows = max(1, 2**18 // images[0].nbytes)  # row groups of about 256 KiB
            pq.write_table(table, {path}, row_group_size=rows, **options)
        """),
        read="table = pq.read_table({path}, pre_buffer=False)" + arrow.CODE_OF_IMAGES,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import pyarrow.parquet as pq

        schema = arrow.image_schema()
        checked = none_larger(images, MOST_BYTES, self.refusal)
        with pq.ParquetWriter(
            path, schema, compression="none", use_dictionary=False, write_statistics=False
        ) as writer:
            for batch in arrow.record_batches(checked, labels, schema):
                rows = max(1, len(batch) * ROW_GROUP_BYTES // batch.nbytes)
                writer.write_batch(batch, row_group_size=rows)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, pre_buffer=False) as file:
            return arrow.images_of(_record_batches(file))

    def _open(self, path: Path) -> ImageReader:
        import pyarrow.parquet as pq

        return _ParquetReader(pq.ParquetFile(path, pre_buffer=False))


def _record_batches(file: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
    """Yield all rows in record batches."""
    count = file.num_row_groups
    for first in range(0, count, GROUPS_AT_A_TIME):
        groups = range(first, min(first + GROUPS_AT_A_TIME, count))
        yield from file.read_row_groups(groups).to_batches()


class _ParquetReader(ImageReader):
    """Reads a row group for an image, or for all requested images in it."""

    def __init__(self, file: pq.ParquetFile) -> None:
        import numpy as np

        self._file = file
        table = file.read(columns=[*arrow.SHAPE_COLUMNS, "label"])
        self._labels = table.column("label").to_numpy()
        self._shapes = arrow.shapes_of(table)
        metadata = file.metadata
        rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._firsts = np.cumsum([0, *rows])
        super().__init__(len(self._labels))

    def _group_of(self, indices: int | list[int]) -> np.ndarray:
        return self._firsts.searchsorted(indices, "right") - 1

    def _pixels(self, group: int) -> pa.ChunkedArray:
        return self._file.read_row_group(group, columns=["image"], use_threads=False).column(0)

    def _image(self, pixels: pa.ChunkedArray, group: int, index: int) -> np.ndarray:
        # The copy releases the rest of the row group.
        value = pixels[index - int(self._firsts[group])].as_buffer()
        return image_of(value, self._shapes[index].tolist()).copy()

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        group = int(self._group_of(index))
        return self._image(self._pixels(group), group, index), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        groups = self._group_of(indices).tolist()
        found: dict[int, np.ndarray] = {}
        positions_in: dict[int, list[int]] = {}
        for position, group in enumerate(groups):
            positions_in.setdefault(group, []).append(position)
        for group, positions in positions_in.items():
            pixels = self._pixels(group)
            for position in positions:
                found[position] = self._image(pixels, group, indices[position])
        images = [found[position] for position in range(len(indices))]
        return images, self._labels[np.array(indices, np.intp)]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
