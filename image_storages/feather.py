"""Feather through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.image_storage import ImageStorage
from adapter_core.images.arrow import image_schema, images_of, reader_of, record_batches

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages
    from adapter_core.image_reader import ImageReader


class Adapter(ImageStorage):
    """Feather V2, the Arrow IPC file, one row an image; written batch by batch, uncompressed.

    Columns: see `adapter_core.images.arrow`. Reading everything takes the whole file into memory at
    once, which needs less of it than batch by batch, and gives views of that. Random access maps the
    file instead and copies one image, so that it touches nothing else of its batch.

    Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
    """

    label = "Feather"
    suffix = ".feather"
    requires = ("pyarrow>=15",)

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import pyarrow as pa

        schema = image_schema()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for batch in record_batches(images, labels, schema):
                writer.write_batch(batch)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np
        import pyarrow as pa

        file = pa.py_buffer(np.fromfile(path, np.uint8))
        return images_of(pa.ipc.open_file(file).read_all().to_batches())

    def _open(self, path: Path) -> ImageReader:
        import pyarrow as pa

        # The batches hold on to the mapping, which ends with the last of them.
        with pa.memory_map(str(path)) as file:
            return reader_of(pa.ipc.open_file(file).read_all().to_batches())
