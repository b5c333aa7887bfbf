"""ORC through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.readers._arrow import ArrowReader, Notes
from data_generator.readers._silence import silence

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import Request


class Reader(ArrowReader):
    """https://orc.apache.org/specification/ORCv1/."""

    what = "ORC"
    endings = (".orc",)
    signatures = ((0, b"ORC"),)

    @contextmanager
    def guard(self, request: Request) -> Iterator[None]:
        """Return what stands around calls of pyarrow, whose ORC library remarks on odd versions."""
        with super().guard(request), silence():
            yield

    def _notes(self, path: Path) -> Notes:
        from pyarrow import orc

        file = orc.ORCFile(path)
        return Notes(file.schema, file.nrows)

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        from pyarrow import orc

        file = orc.ORCFile(path)
        yield from map(file.read_stripe, range(file.nstripes))
