"""Lance through its own Python library."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.images import arrow
from adapter_core.images.packed import split

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# By default Lance chooses a codec itself: https://lance.org/format/file/encoding/
NO_COMPRESSION = {"lance-encoding:compression": "none"}

# Batches and bytes that are read ahead. By default Lance reads up to 2 GiB ahead, in batches of 8,192
# rows of any size; its batches of a given number of bytes take more memory.
READ_AHEAD, IO_BYTES = 2, 64 << 20


class Adapter(ImageStorage):
    """A Lance data set (a directory), one row an image, through pylance and Arrow record batches.

    Columns: see `adapter_core.images.arrow`. Random access takes rows by number, the strength of the
    format, and only their pixels: shapes and labels are read when the set is opened.

    Library: https://lance.org/guide/read_and_write/
    """

    label = "Lance"
    suffix = ".lance"
    requires = ("pyarrow>=15", "pylance>=14")
    modules: ClassVar = {"pylance": "lance"}
    file_facts = FileFacts(version="2.2", threads="all cores")
    snippet = Snippet(
        imports="import lance\nimport numpy as np\nimport pyarrow as pa",
        write=arrow.CODE_OF_TABLE
        + cleandoc("""
            field = table.schema.field("image").with_metadata({"lance-encoding:compression": "none"})
            table = table.cast(table.schema.set(0, field))
            lance.write_dataset(table, {path})
        """),
        read="table = lance.dataset({path}).to_table()" + arrow.CODE_OF_IMAGES,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import lance

        with arrow.record_reader(images, labels, arrow.image_schema(NO_COMPRESSION)) as reader:
            lance.write_dataset(reader, path)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import lance

        dataset = lance.dataset(path)
        shapes, labels = _shapes_and_labels(dataset)
        batches = dataset.to_batches(
            columns=["image"],
            batch_size=arrow.rows_a_batch(shapes),
            batch_readahead=READ_AHEAD,
            io_buffer_size=IO_BYTES,
        )
        return arrow.images_of_shapes(batches, shapes), labels

    def _open(self, path: Path) -> ImageReader:
        import lance

        return _LanceReader(lance.dataset(path))


class _LanceReader(ImageReader):
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._shapes, self._labels = _shapes_and_labels(dataset)
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        (image,), (label,) = self._get_many([index])
        return image, int(label)

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        chosen = np.array(indices, np.int64)
        column = self._dataset.take(indices, columns=["image"]).column("image").combine_chunks()
        shapes = self._shapes[chosen]
        return split(arrow.pixels_of(column, shapes), shapes), self._labels[chosen]

    def close(self) -> None:
        """Release the data set."""
        self._dataset = None


def _shapes_and_labels(dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    table = dataset.to_table(columns=[*arrow.SHAPE_COLUMNS, "label"])
    return arrow.shapes_of(table), table.column("label").to_numpy()
