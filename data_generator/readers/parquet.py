"""Reader of Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from data_generator.readers._reader import ReadRequest


class ParquetReader(ArrowReader):
    """Reader of Parquet files, https://parquet.apache.org/docs/file-format/."""

    kind = "Parquet"
    endings = (".parquet", ".pq", ".parq")
    signatures = ((0, b"PAR1"),)

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        with _opened(request.path) as file:
            footer = file.metadata
            groups = map(footer.row_group, range(footer.num_row_groups))
            size_bytes = sum(group.total_byte_size for group in groups)
            return FileMetadata(file.schema_arrow, footer.num_rows, size_bytes)

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        with _opened(request.path) as file:
            yield from file.iter_batches()


def _opened(path: Path) -> pq.ParquetFile:
    """Open a file, with times of 96 bits in microseconds if nanoseconds do not have all of them.

    pyarrow takes them for nanoseconds of 64 bits: before 1677 and after 2262, they would be other times.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    leaves = map(file.schema.column, range(len(file.schema)))
    if all(each.physical_type != "INT96" for each in leaves):
        return file
    wide = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
    fields = zip(file.schema_arrow, wide.schema_arrow, strict=True)
    narrow = pa.schema([field for field, wider in fields if field.type != wider.type])
    try:
        for batch in wide.iter_batches(columns=narrow.names):
            batch.select(narrow.names).cast(narrow)
    except pa.ArrowInvalid:
        file.close()
        return wide
    wide.close()
    return file
