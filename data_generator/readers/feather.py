"""Arrow IPC files and streams, which is what Feather files are, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_generator.readers._arrow import ArrowReader, Notes

if TYPE_CHECKING:
    import pyarrow as pa

FILE = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"
"""https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc"""


class Reader(ArrowReader):
    """Files are read and not mapped, since one that is cut while it is mapped kills the process."""

    what = "Feather (Arrow IPC)"
    endings = (".feather", ".arrow", ".ipc", ".arrows", ".fea")
    signatures = ((0, FILE), (0, STREAM))

    def _notes(self, path: Path) -> Notes:
        with _opened(path) as (reader, _):
            return Notes(reader.schema, None)

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        with _opened(path) as (reader, is_file):
            if not is_file:
                yield from reader
                return
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, bool]]:
    """Open a file or stream; tell which it is."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        is_file = file.read(len(FILE)) == FILE
        file.seek(0)
        with pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file) as reader:
            yield reader, is_file
