"""Feather through pyarrow."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.images.arrow import (
    CODE_OF_IMAGES,
    CODE_OF_TABLE,
    image_schema,
    images_of,
    reader_of,
    record_batches,
)

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages


class Adapter(ImageStorage):
    """Feather V2, the Arrow IPC file, one row an image; written batch by batch, uncompressed.

    Columns: see `adapter_core.images.arrow`. A full read loads the file at once, which needs less memory
    than batch by batch, and returns views. Random access maps the file and copies single images, without
    touching the rest of their batch.

    Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
    """

    label = "Feather"
    suffix = ".feather"
    requires = ("pyarrow>=15",)
    file_facts = FileFacts(version="2", differs="no codec, while pyarrow takes lz4")
    snippet = Snippet(
        imports="import numpy as np\nimport pyarrow as pa",
        write=CODE_OF_TABLE
        + cleandoc("""
            with pa.OSFile({path}, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        """),
        read=cleandoc("""
            with pa.OSFile({path}) as file:
                table = pa.ipc.open_file(file).read_all()
        """)
        + CODE_OF_IMAGES,
        given=Given.IMAGES,
    )

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

        # The batches keep the mapping alive, which ends with the last of them.
        with pa.memory_map(str(path)) as file:
            return reader_of(pa.ipc.open_file(file).read_all().to_batches())
