"""Base of readers that receive Arrow record batches: sampling and validation."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from adapter_core.kinds import (
    Kind,
    kind_of_arrow,
    types_in,
    without_views,
)
from adapter_core.pandas_dtypes import (
    PANDAS,
    column_metadata,
    nested_dtype,
    nullable_dtype,
    types_mapper,
)
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
        # Also names of types are text that may be none, e.g. of time zones.
        with self.guard(request):
            kinds = [set(map(kind_of_arrow, types_in(field.type))) for field in metadata.schema]
        for field, found in zip(metadata.schema, kinds, strict=True):
            if Kind.OTHER_NESTED in found:
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
    """Return a table with each column in one chunk, as generated ones have, and no value changed.

    Nested columns have dtypes of Arrow, integers and booleans with nulls the nullable ones of pandas,
    and all others NumPy's or pandas' default ones, also if they were saved with dtypes of Arrow.
    """
    for position, field in enumerate(table.schema):
        column = _stored(table.column(position))
        plain = without_views(column.type)
        if plain != field.type:
            table = table.set_column(position, field.name, column.cast(plain))
    # pandas keeps the chunks of text columns, and later operations take longer with many of them.
    table = table.combine_chunks().replace_schema_metadata({PANDAS: json.dumps(_metadata(table))})
    return table.to_pandas(types_mapper=types_mapper(table.schema))


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of an extension type as it is stored, unless the type is of pandas.

    Of a type that is another name for one of Arrow, it is that one.
    """
    import pyarrow as pa

    kind = column.type
    if not isinstance(kind, pa.BaseExtensionType) or kind.extension_name.startswith("pandas."):
        return column
    if kind.extension_name == "arrow.bool8":
        return column.cast(pa.bool_())
    return pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)


def _metadata(table: pa.Table) -> dict[str, Any]:
    """Return pandas' metadata of a table, with the dtypes that `to_pandas` states."""
    metadata = table.schema.pandas_metadata or {"index_columns": [], "column_indexes": [], "columns": []}
    columns = {each.get("field_name") or each["name"]: each for each in metadata["columns"]}
    for field, column in zip(table.schema, table.columns, strict=True):
        known = columns.get(field.name, {})
        if column.null_count and (dtype := nullable_dtype(field.type)):
            columns[field.name] = {**column_metadata(field, dtype), **known, "numpy_type": dtype}
        elif known.get("numpy_type", "").endswith("[pyarrow]"):
            # pandas itself does not know all of them, e.g. dictionary<values=string, indices=int32>.
            columns[field.name] = {**known, "numpy_type": "object"}
    return {**metadata, "columns": list(columns.values())}


def without_arrow_types(df: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns have dtypes of Arrow only where they are nested."""
    import pandas as pd
    import pyarrow as pa

    df = df.copy(deep=False)
    for position, dtype in enumerate(df.dtypes):
        if isinstance(dtype, pd.ArrowDtype) and nested_dtype(dtype.pyarrow_dtype) is None:
            column = pa.chunked_array(df.iloc[:, position].array.__arrow_array__())
            df.isetitem(position, to_pandas(pa.table({"": column}))[""])
    return df


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
