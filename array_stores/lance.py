"""Lance through its own Python library."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Appendable, RemoteArray, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_store import ALL_DTYPES, COMPLEX
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from adapter_core import ArrayReader, ArraySource, RemoteFile

COLUMN = "values"


class Adapter(RemoteArray, Appendable):
    """A Lance data set (a directory) with a row for each chunk, a tensor of fixed shape.

    Chunks at the edges are stored whole, filled with zeros. There is no choice of a codec: Lance
    14.0 writes tensors as they are, also with a codec in the metadata of the field. The description is
    in the schema's metadata.

    Format: https://lance.org/format/
    """

    label = "Lance"
    suffix = ".lance"
    requires = ("numpy", "pyarrow", "pylance")
    modules: ClassVar = {"pylance": "lance"}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    dtypes: ClassVar = ALL_DTYPES - COMPLEX - {"bool"}  # Lance has no lists of booleans in tensors
    dims_range = range(1, 33)  # Arrow has no tensors without dimensions
    holds_empty = False
    remote_schemes: ClassVar = OBJECT_STORES
    file_facts = FileFacts(version="2.2", threads="all cores")
    snippet = "the format has tables, and rows that are chunks of an array are this project's own layout"

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(source, path)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(source, file.url, storage_options=file.lance_options())

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        return _Reader(file.url, storage_options=file.lance_options())

    def _append(self, source: ArraySource, path: Path) -> None:
        import lance
        import pyarrow as pa

        saved = _Reader(path).description
        schema = _schema(source)
        rows = pa.RecordBatchReader.from_batches(schema, _rows(source, schema))
        appended = lance.write_dataset(rows, path, mode="append")
        appended.update_schema_metadata({KEY: saved.extended(source).to_json()})

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write a row for each chunk by `lance.write_dataset`."""
        import lance
        import pyarrow as pa

        schema = _schema(source)
        lance.write_dataset(pa.RecordBatchReader.from_batches(schema, _rows(source, schema)), path)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read the tensor of each row by `take`."""
        import lance

        rows = lance.dataset(path)
        count: int = rows.count_rows()
        for row in range(count):
            rows.take([row]).column(0).chunk(0).to_numpy_ndarray()
        return count


class _Reader(WholeChunkReader):
    def __init__(self, place: Path | str, **options: Any) -> None:
        import lance

        self._rows: Any = lance.dataset(place, **options)
        super().__init__(Description.from_json(self._rows.schema.metadata[KEY.encode()]))

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        row = self._rows.take([self.chunk_number(index)])
        found: np.ndarray = row.column(0).chunk(0).to_numpy_ndarray()[0]
        shape = self.chunk_shape(index)
        return found if found.shape == shape else found[tuple(map(slice, shape))]


def _write(source: ArraySource, place: Path | str, **options: Any) -> None:
    import lance
    import pyarrow as pa

    schema = _schema(source).with_metadata({KEY: Description.of(source).to_json()})
    rows = pa.RecordBatchReader.from_batches(schema, _rows(source, schema))
    lance.write_dataset(rows, place, **options)


def _schema(source: ArraySource) -> pa.Schema:
    import pyarrow as pa

    tensor = pa.fixed_shape_tensor(pa.from_numpy_dtype(source.dtype), source.chunks)
    return pa.schema([(COLUMN, tensor)])


def _rows(source: ArraySource, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield a batch of one row for each chunk."""
    import numpy as np
    import pyarrow as pa

    for _, chunk in source:
        values = chunk
        if chunk.shape != source.chunks:
            values = np.zeros(source.chunks, source.dtype)
            values[tuple(map(slice, chunk.shape))] = chunk
        flat = pa.array(values.reshape(-1))
        tensor = pa.FixedSizeListArray.from_arrays(flat, math.prod(source.chunks))
        column = pa.ExtensionArray.from_storage(schema.field(0).type, tensor)
        yield pa.record_batch([column], schema)
