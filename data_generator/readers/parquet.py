"""Reader of Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest


class ParquetReader(ArrowReader):
    """Reader of Parquet files, https://parquet.apache.org/docs/file-format/."""

    kind = "Parquet"
    endings = (".parquet", ".pq", ".parq")
    signatures = ((0, b"PAR1"),)

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        import pyarrow.parquet as pq

        with pq.ParquetFile(request.path) as file:
            footer = file.metadata
            groups = map(footer.row_group, range(footer.num_row_groups))
            size_bytes = sum(group.total_byte_size for group in groups)
            return FileMetadata(file.schema_arrow, footer.num_rows, size_bytes)

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(request.path) as file:
            yield from file.iter_batches()
