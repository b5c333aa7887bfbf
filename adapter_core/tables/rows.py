"""Rows of a table as tuples of Python values, block by block, for libraries that take records.

A library that packs one record a row cannot be given columns. Columns become lists in bulk here, a
block of rows at a time, and `zip` makes rows of them, so that no step of Python is done per value.

Columns of a table from blocks of Python values, as `adapter_core.tables.rows` gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


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


class Column:
    """Values of one column, gathered block by block.

    Parameters
    ----------
    note : dict
        One of the columns of `adapter_core.tables.row_format.Note`.
    """

    def __init__(self, note: dict[str, Any]) -> None:
        self.note = note
        self.dtype = _dtype(note["dtype"])
        self.type = _arrow_type(self.dtype)
        self.chunks: list[Any] = []

    def add(self, values: Sequence[Any]) -> None:
        """Take the values of a block, shape (rows,)."""
        import pyarrow as pa

        self.chunks.append(values if self.type is None else pa.array(values, self.type))

    def array(self) -> Any:
        """Return all values in the column's dtype, shape (rows,)."""
        import numpy as np
        import pandas as pd
        import pyarrow as pa

        if self.type is None:
            return np.fromiter(chain.from_iterable(self.chunks), object)
        column = pa.chunked_array(self.chunks, self.type)
        if "categories" in self.note:
            text = pd.StringDtype(na_value=np.nan).__from_arrow__(column)
            return pd.Categorical(text, self.note["categories"], self.note["ordered"])
        if self.dtype.kind in "mM":
            return _times(column, self.dtype)
        if not isinstance(self.dtype, np.dtype):
            return self.dtype.__from_arrow__(column)
        if column.null_count and self.dtype.kind in "biu":
            raise ValueError(f"column {self.note['name']!r} of {self.dtype} holds nulls")
        return _writeable(column)


@cache
def _dtype(name: str) -> Any:
    """Return the dtype of that name, for which pandas asks one class of them after the other."""
    import pandas as pd

    return pd.api.types.pandas_dtype(name)


def _arrow_type(dtype: Any) -> pa.DataType | None:
    """Return the Arrow type of a column's values as they are in rows; None if Arrow has none."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if dtype == object:
        return None
    if isinstance(dtype, (pd.StringDtype, pd.CategoricalDtype)):
        return pa.large_string()
    if dtype.kind in "mM":
        return pa.int64()
    return pa.from_numpy_dtype(dtype if isinstance(dtype, np.dtype) else dtype.numpy_dtype)


def _times(column: pa.ChunkedArray, dtype: Any) -> Any:
    """Return the datetimes or timedeltas for which integers stand, shape (rows,)."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, np.dtype):
        return _writeable(column.cast(pa.from_numpy_dtype(dtype)))
    times = pd.array(_writeable(column.cast(pa.timestamp(dtype.unit))))
    return times.tz_localize("UTC").tz_convert(dtype.tz)


def _writeable(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column as NumPy holds it; Arrow gives its own memory where there is but one block."""
    import numpy as np

    return np.require(column.to_numpy(), requirements="W")
