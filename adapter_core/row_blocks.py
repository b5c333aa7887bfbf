"""Rows of a table as tuples of Python values, block by block, for libraries that take records.

A library that packs one record a row cannot be given columns. Columns become lists in bulk here, a
block of rows at a time, and `zip` makes rows of them, so that no step of Python is done per value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

ROWS_AT_A_TIME = 500
"""Fewer than the 700 objects that wake Python's garbage collector: what reads and writes is twice as
fast in such blocks as in blocks of 10,000 rows."""

CELLS_AT_A_TIME = 2**18
"""Values in a block of a wide table, of which a block of 500 rows would fill the memory."""

EPOCH_KINDS = {Kind.DATETIME, Kind.ZONED_DATETIME, Kind.TIMEDELTA}
"""Kinds whose values are given as integers, in the unit of their dtype."""


def rows_at_a_time(columns: int) -> int:
    """Return the number of rows in a block of a table of so many columns, at least 1."""
    return max(1, min(ROWS_AT_A_TIME, CELLS_AT_A_TIME // columns))


def row_blocks(
    df: pd.DataFrame, *, datetime_objects: bool = False
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the rows of a table in blocks of `rows_at_a_time`.

    A null is None in every column but those of NumPy's floats, whose NaN stays NaN. Categories are
    values.

    Parameters
    ----------
    df : pandas.DataFrame
        Shape (rows, columns).
    datetime_objects : bool
        Whether datetimes are `datetime.datetime`, without zone and of whole milliseconds. By default
        they are integers, as timedeltas always are, in the unit of their dtype. All are in UTC.
    """
    listers = [
        _lister(column, kind, datetime_objects=datetime_objects)
        for (_, column), kind in zip(df.items(), kinds_of(df), strict=True)
    ]
    step = rows_at_a_time(len(listers))
    for start in range(0, len(df), step):
        yield zip(*[values(start, start + step) for values in listers], strict=True)


def _lister(column: pd.Series, kind: Kind, *, datetime_objects: bool) -> Callable[[int, int], list[Any]]:
    """Return what gives the values of the rows from one number up to another."""
    if kind in (Kind.TEXT, Kind.CATEGORY):
        return _text_lister(column)
    values, nulls = _values_and_nulls(column, kind)
    if datetime_objects and kind in (Kind.DATETIME, Kind.ZONED_DATETIME):
        values = values.view(f"M8[{column.dt.unit}]").astype("M8[ms]")

    def listed(start: int, stop: int) -> list[Any]:
        part = values[start:stop]
        if nulls is None or not nulls[start:stop].any():
            return part.tolist()
        part = part.astype(object)
        part[nulls[start:stop]] = None
        return part.tolist()

    return listed


def _text_lister(column: pd.Series) -> Callable[[int, int], list[Any]]:
    import pyarrow as pa

    text = pa.array(column.array, from_pandas=True)
    if pa.types.is_dictionary(text.type):
        text = text.cast(pa.large_string())
    return lambda start, stop: text[start:stop].to_numpy(zero_copy_only=False).tolist()


def _values_and_nulls(column: pd.Series, kind: Kind) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values as NumPy holds them, and which are null; both of shape (rows,)."""
    import numpy as np

    if kind is Kind.ZONED_DATETIME:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if kind in EPOCH_KINDS:
        return column.to_numpy().view(np.int64), column.isna().to_numpy()
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy(), column.isna().to_numpy() if column.dtype == object else None
    numpy_dtype = column.dtype.numpy_dtype
    return column.to_numpy(numpy_dtype, na_value=numpy_dtype.type()), column.isna().to_numpy()
