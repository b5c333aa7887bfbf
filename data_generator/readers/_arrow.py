"""Base of readers that receive Arrow record batches: sampling and validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from adapter_core.kinds import Kind, kind_of_arrow, nested_dtype, types_in, without_views
from data_generator.labels import refuse_duplicates
from data_generator.readers._reader import ReadRequest, TableReader, check_columns, check_fits

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


# Memory for each row when a sample is drawn: a random word and a row number.
SAMPLING_BYTES = 16

# A pointer to a Python object.
REFERENCE_BYTES = 8


@dataclass(frozen=True)
class FileMetadata:
    """Metadata that a file declares about its table."""

    schema: pa.Schema
    rows: int | None
    """None if the file does not declare it."""
    size_bytes: int = 0
    """Uncompressed size of all columns; 0 if the file does not declare it."""


class ArrowReader(TableReader):
    """Reader that processes a file batch by batch, and keeps only the rows of a sample."""

    @abstractmethod
    def _metadata(self, request: ReadRequest) -> FileMetadata:
        """Return the declared metadata; any exception counts as damage of the file."""

    @abstractmethod
    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order; any exception counts as damage of the file."""

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the table, or the requested sample of its rows."""
        import pyarrow as pa

        with self.guard(request):
            metadata = self._metadata(request)
            names = metadata.schema.names
        check_columns(request.path, len(names))
        refuse_duplicates(request.path, names)
        for field in metadata.schema:
            if Kind.OTHER_NESTED in map(kind_of_arrow, types_in(field.type)):
                problem = f"has a column {field.name!r} of {field.type}, which pandas cannot process"
                raise InvalidDataError(request.path, problem, "leave it out")
        if request.sample_rows is not None:
            check_fits(request.path, SAMPLING_BYTES * (metadata.rows or 0))
        chosen = None if metadata.rows is None else request.sampled_rows(metadata.rows)
        if chosen is None:
            size_bytes = (metadata.rows or 0) * row_bytes(metadata.schema)
            check_fits(request.path, max(size_bytes, metadata.size_bytes))
        kept = list(_fitting(request, _chosen(self._valid_batches(request, metadata), chosen)))
        with self.guard(request):
            return to_pandas(pa.Table.from_batches(kept, metadata.schema))

    def _valid_batches(self, request: ReadRequest, metadata: FileMetadata) -> Iterator[pa.RecordBatch]:
        """Yield the batches after a full validation."""
        rows = 0
        with self.guard(request):
            for batch in self._batches(request):
                # Offsets of a damaged file may point outside of its buffers, and crash the process
                # later.
                batch.validate(full=True)
                rows += len(batch)
                yield batch
        if metadata.rows not in (None, rows):
            raise InvalidDataError(
                request.path, f"is damaged: it declares {metadata.rows:,} rows and contains {rows:,}"
            )


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table with each column in one chunk, as in generated tables, nested ones as Arrow's."""
    for position, field in enumerate(table.schema):
        plain = without_views(field.type)
        if plain != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(plain))
    # pandas keeps the chunks of text columns, and later operations take longer with many of them.
    return table.combine_chunks().to_pandas(types_mapper=nested_dtype)


def row_bytes(schema: pa.Schema) -> int:
    """Return the memory of a row as pandas has it, at least."""
    import pyarrow as pa

    def width(dtype: pa.DataType) -> int:
        if pa.types.is_dictionary(dtype):
            return width(dtype.index_type)
        try:
            return max(1, dtype.bit_width // 8)
        except ValueError:  # text, nulls and so on: a reference, or where the value starts
            return REFERENCE_BYTES

    return sum(width(field.type) for field in schema)


def _fitting(request: ReadRequest, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches as long as their columns can be copied into one chunk each."""
    # Files declare the size of compressed and encoded values at best.
    size_bytes = 0
    for batch in batches:
        size_bytes += max(batch.nbytes, len(batch) * row_bytes(batch.schema))
        check_fits(request.path, size_bytes)
        yield batch


def _chosen(batches: Iterator[pa.RecordBatch], rows: np.ndarray | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the given numbers, which are ascending; all if `rows` is None."""
    import numpy as np

    start = 0
    for batch in batches:
        if rows is None:
            yield batch
            continue
        first, last = np.searchsorted(rows, (start, start + len(batch)))
        yield batch.take(rows[first:last] - start)
        start += len(batch)
