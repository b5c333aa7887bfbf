"""Reader of Arrow IPC files (Feather) and streams, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest

# https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
FILE = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"


class FeatherReader(ArrowReader):
    """Reader of Arrow IPC files and streams."""

    kind = "Feather (Arrow IPC)"
    endings = (".feather", ".arrow", ".ipc", ".arrows", ".fea")
    signatures = ((0, FILE), (0, STREAM))

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        with _opened(request.path) as (reader, _):
            return FileMetadata(reader.schema, None)

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        with _opened(request.path) as (reader, is_file):
            if not is_file:
                yield from reader
                return
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, bool]]:
    """Open a file or stream; yield its reader, and True for a file."""
    import pyarrow as pa

    # A memory-mapped file that is truncated meanwhile would kill the process.
    with pa.OSFile(str(path)) as file:
        is_file = file.read(len(FILE)) == FILE
        file.seek(0)
        with pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file) as reader:
            yield reader, is_file
