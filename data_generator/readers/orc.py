"""Reader of ORC files, through pyarrow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest


# ORC's C++ library prints there by itself.
STDERR = 2


class ORCReader(ArrowReader):
    """Reader of ORC files, https://orc.apache.org/specification/ORCv1/."""

    kind = "ORC"
    endings = (".orc",)
    signatures = ((0, b"ORC"),)

    @contextmanager
    def guard(self, request: ReadRequest) -> Iterator[None]:
        """Return the context manager for calls into pyarrow, without the messages of its ORC library."""
        # Apache ORC prints to standard error about files of unknown versions.
        with super().guard(request), _silence():
            yield

    def _metadata(self, path: Path) -> FileMetadata:
        from pyarrow import orc

        file = orc.ORCFile(path)
        return FileMetadata(file.schema, file.nrows)

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        from pyarrow import orc

        file = orc.ORCFile(path)
        yield from map(file.read_stripe, range(file.nstripes))


@contextmanager
def _silence() -> Iterator[None]:
    """Discard all output to standard error, also by libraries in C++."""
    # Redirecting sys.stderr would not affect the file descriptor, to which C++ writes.
    sys.stderr.flush()
    kept = os.dup(STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)
