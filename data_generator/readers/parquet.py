"""Parquet through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.readers._arrow import ArrowReader, Notes

if TYPE_CHECKING:
    import pyarrow as pa


class Reader(ArrowReader):
    """https://parquet.apache.org/docs/file-format/."""

    what = "Parquet"
    endings = (".parquet", ".pq", ".parq")
    signatures = ((0, b"PAR1"),)

    def _notes(self, path: Path) -> Notes:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            footer = file.metadata
            groups = map(footer.row_group, range(footer.num_row_groups))
            size_bytes = sum(group.total_byte_size for group in groups)
            return Notes(file.schema_arrow, footer.num_rows, size_bytes)

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            yield from file.iter_batches()
