"""Lance through its own Python library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.arrow_images import (
    SHAPE_COLUMNS,
    image_schema,
    images_of,
    pixels_of,
    record_reader,
    shapes_of,
)
from adapter_core.flat_images import split
from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

NO_COMPRESSION = {"lance-encoding:compression": "none"}
"""Else Lance picks a codec by itself: https://lance.org/format/file/encoding/"""

READ_BYTES = 32 << 20
"""Pixels in a batch read: by default Lance takes a number of rows, be they small or large."""


class Adapter(ImageStorage):
    """A Lance data set (a directory), one row an image, through pylance and Arrow record batches.

    Columns: see `adapter_core.arrow_images`. Random access asks for rows by number, which is what the
    format is made for, and for nothing but their pixels: shapes and labels are read when it is opened.

    Library: https://lance.org/guide/read_and_write/
    """

    label = "Lance"
    suffix = ".lance"
    requires = ("pyarrow>=15", "pylance>=14")
    modules: ClassVar = {"pylance": "lance"}

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import lance

        with record_reader(images, labels, image_schema(NO_COMPRESSION)) as reader:
            lance.write_dataset(reader, path)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import lance

        return images_of(lance.dataset(path).to_batches(batch_size_bytes=READ_BYTES))

    def _open(self, path: Path) -> ImageReader:
        import lance

        return _Reader(lance.dataset(path))


class _Reader(ImageReader):
    def __init__(self, dataset: Any) -> None:
        notes = dataset.to_table(columns=[*SHAPE_COLUMNS, "label"])
        self._dataset, self._shapes = dataset, shapes_of(notes)
        self._labels = notes.column("label").to_numpy()
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        (image,), (label,) = self._get_many([index])
        return image, int(label)

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        chosen = np.array(indices, np.int64)
        column = self._dataset.take(indices, columns=["image"]).column("image").combine_chunks()
        shapes = self._shapes[chosen]
        return split(pixels_of(column, shapes), shapes), self._labels[chosen]

    def close(self) -> None:
        """Let go of the data set."""
        self._dataset = None
