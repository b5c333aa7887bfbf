"""Tables on their way to cells, which hold floats, dates, text or booleans, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adapter_core.arrow_frames import arrow_of, frame_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ROWS_AT_A_TIME = 500
"""Fewer than the 700 objects that wake Python's garbage collector."""

_LARGEST_EXACT_FLOAT = 2**53


def rows_of(df: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, shape (rows, columns), as Python's values; a null is None."""
    import pyarrow as pa

    table = arrow_of(df)
    for position, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            # Cells hold no more than milliseconds, and Python no nanoseconds.
            times = table.column(position).cast(pa.timestamp("ms"))
            table = table.set_column(position, field.name, times)
    for batch in table.to_batches(max_chunksize=ROWS_AT_A_TIME):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def frame_of_cells(table: pa.Table) -> pd.DataFrame:
    """Return a table read from cells, shape (rows, columns), as pandas would read it.

    All numbers are floats there. Columns of whole numbers without nulls come as 64-bit integers, as
    pandas gives them, and other columns of numbers as 64-bit floats.
    """
    for position, column in enumerate(table.columns):
        kind = _number_type(column)
        if kind is not None and kind != column.type:
            name = table.schema.names[position]
            table = table.set_column(position, name, column.cast(kind))
    return frame_of(table.replace_schema_metadata())


def _number_type(column: pa.ChunkedArray) -> pa.DataType | None:
    """Return the type that a column of numbers should have; None for another column."""
    import numpy as np
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return None
    if column.null_count:
        return pa.float64()
    if pa.types.is_integer(column.type):
        return pa.int64()
    values = column.to_numpy()
    whole = (values == np.trunc(values)) & (np.abs(values) <= _LARGEST_EXACT_FLOAT)
    minus_zero = (values == 0) & np.signbit(values)
    return pa.int64() if len(values) and whole.all() and not minus_zero.any() else pa.float64()
