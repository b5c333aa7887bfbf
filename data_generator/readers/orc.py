"""Reader of ORC files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from data_generator.errors import silenced
from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest


class ORCReader(ArrowReader):
    """Reader of ORC files, https://orc.apache.org/specification/ORCv1/."""

    kind = "ORC"
    endings = (".orc",)
    signatures = ((0, b"ORC"),)

    @contextmanager
    def guard(self, request: ReadRequest) -> Iterator[None]:
        """Return the context manager for calls into pyarrow, without the messages of its ORC library."""
        # Apache ORC prints to standard error about files of unknown versions.
        with super().guard(request), silenced():
            yield

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        from pyarrow import orc

        file = orc.ORCFile(request.path)
        return FileMetadata(file.schema, file.nrows)

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        from pyarrow import orc

        file = orc.ORCFile(request.path)
        yield from map(file.read_stripe, range(file.nstripes))
