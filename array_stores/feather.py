"""Feather V2, the Arrow IPC file, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Codec, RemoteArray, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_store import ALL_DTYPES, COMPLEX
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.arrow_codec import codec_of_file
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from adapter_core import ArrayReader, ArraySource, RemoteFile


class Adapter(RemoteArray):
    """An Arrow IPC file with a record batch for each chunk: one column of its values in C order.

    Chunks at the edges are shorter batches. The file is mapped, and an uncompressed chunk is a read-only
    view of it; booleans are bits in the file. Pages that were read count as memory of the process until
    the kernel reclaims them. The description is in the schema's metadata.

    Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
    """

    label = "Feather"
    suffix = ".feather"
    requires = ("numpy", "pyarrow")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    dtypes: ClassVar = ALL_DTYPES - COMPLEX
    remote_schemes: ClassVar = OBJECT_STORES
    # pyarrow's default levels; lz4's means its fast mode.
    codecs: ClassVar = (Codec("lz4", range(1, 13), 1), Codec("zstd", range(1, 23), 1))
    file_facts = FileFacts(version="2", threads="one", mapped=True)
    snippet = "the format has tables, and rows that are chunks of an array are this project's own layout"

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(source, str(path), codec, level)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            _write(source, stream, codec, level)

    def _open(self, path: Path) -> ArrayReader:
        import pyarrow as pa

        return _Reader(pa.memory_map(str(path)))

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        return _Reader(file.arrow_file_system().open_input_file(file.arrow_path))

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_file(path, declared=True)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write each chunk by `pyarrow.ipc.new_file`."""
        import pyarrow as pa

        schema = pa.schema([("x", pa.from_numpy_dtype(source.dtype))])
        with pa.ipc.new_file(str(path), schema) as file:
            for _, values in source:
                file.write(pa.record_batch([pa.array(values.ravel())], schema))

    @staticmethod
    def plain_read(path: Path) -> int:
        """Copy each record batch of the mapped file."""
        import pyarrow as pa

        with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as file:
            batches = map(file.get_batch, range(file.num_record_batches))
            return len([batch.column(0).to_numpy().copy() for batch in batches])


def _write(source: ArraySource, sink: Any, codec: str | None, level: int | None) -> None:
    import pyarrow as pa

    schema = pa.schema(
        [(source.name, pa.from_numpy_dtype(source.dtype))],
        {KEY: Description.of(source).to_json()},
    )
    compression = pa.Codec(codec, level) if codec else None
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, schema, options=options) as file:
        for _, values in source:
            file.write(pa.record_batch([pa.array(values.reshape(-1))], schema))


class _Reader(WholeChunkReader):
    maps_files = True

    def __init__(self, opened: pa.NativeFile) -> None:
        import pyarrow as pa

        self._opened = opened
        self._file: Any = pa.ipc.open_file(opened)
        super().__init__(Description.from_json(self._file.schema.metadata[KEY.encode()]))

    def close(self) -> None:
        """Close the file; the mapping of a local one lasts as long as chunks that view it."""
        self._opened.close()

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        column = self._file.get_batch(self.chunk_number(index)).column(0)
        values: np.ndarray = column.to_numpy(zero_copy_only=self.dtype.kind != "b")
        return values.reshape(self.chunk_shape(index))
