"""Rows of a table as Python values in blocks, and columns from such blocks.

Libraries of records take rows, not columns. Columns become lists in bulk, a block of rows at a time,
and `zip` turns the lists into rows: without a Python step per value.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from adapter_core import Kind, kinds_of
from adapter_core.kinds import NESTED, dtype_named, nested_array, without_maps
from adapter_core.values import in_utc

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


# Fewer than the 700 new objects that start Python's garbage collector: reading and writing are twice as
# fast in such blocks as in blocks of 10,000 rows.
BLOCK_ROWS = 500

# Blocks of 500 rows of a wide table would fill the memory.
_BLOCK_VALUES = 2**18

EPOCH_KINDS = {Kind.DATETIME, Kind.ZONED_DATETIME, Kind.TIMEDELTA}
"""Kinds whose values become integers in the unit of their dtype."""


def block_rows(columns: int) -> int:
    """Return the number of rows in a block, at least 1, for a number of columns."""
    return max(1, min(BLOCK_ROWS, _BLOCK_VALUES // columns))


def pieces(df: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """Yield a table in pieces of at most that many rows, each with the default index."""
    if len(df) <= rows:
        yield df
        return
    for start in range(0, len(df), rows):
        yield df.iloc[start : start + rows].reset_index(drop=True)


def row_blocks(
    df: pd.DataFrame, *, datetime_objects: bool = False
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the rows of a table in blocks of `block_rows` rows.

    A null is None, except in NumPy's floats, whose NaN stays NaN. Categories become their values.

    Parameters
    ----------
    df : pandas.DataFrame
        Shape (rows, columns).
    datetime_objects : bool
        If True, datetimes are `datetime.datetime`, without zone and of whole milliseconds. By default
        they are integers in the unit of their dtype, as timedeltas always are. All are in UTC.
    """
    listers = [
        _lister(column, kind, datetime_objects=datetime_objects)
        for (_, column), kind in zip(df.items(), kinds_of(df), strict=True)
    ]
    step = block_rows(len(listers))
    for start in range(0, len(df), step):
        yield zip(*[values(start, start + step) for values in listers], strict=True)


def _lister(column: pd.Series, kind: Kind, *, datetime_objects: bool) -> Callable[[int, int], list[Any]]:
    """Return a function that lists the values of a range of rows."""
    if kind in (Kind.TEXT, Kind.CATEGORY):
        return _text_lister(column)
    if kind in NESTED:
        nested: Any = nested_array(column)
        plain = nested.cast(without_maps(nested.type))
        return lambda start, stop: plain[start:stop].to_pylist()
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
    """Return the values, and a mask of the nulls unless they are NaN, both of shape (rows,)."""
    import numpy as np

    if kind in EPOCH_KINDS:
        return in_utc(column).to_numpy().view(np.int64), column.isna().to_numpy()
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy(), column.isna().to_numpy() if column.dtype == object else None
    numpy_dtype = column.dtype.numpy_dtype
    return column.to_numpy(numpy_dtype, na_value=numpy_dtype.type()), column.isna().to_numpy()


class ColumnBuilder:
    """Builder of a column from blocks of values.

    Parameters
    ----------
    description : dict
        An item of the columns in `adapter_core.tables.row_format.describe`.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description
        self.dtype = dtype_named(description["dtype"])
        nested = "arrow" in description
        self.type = _nested_type(description["arrow"]) if nested else _arrow_type(self.dtype)
        self.chunks: list[Any] = []

    def add(self, values: Sequence[Any]) -> None:
        """Append the values of a block, shape (rows,)."""
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
        if "arrow" in self.description:
            return pd.arrays.ArrowExtensionArray(column)
        if "categories" in self.description:
            text = pd.StringDtype(na_value=np.nan).__from_arrow__(column)
            return pd.Categorical(text, self.description["categories"], self.description["ordered"])
        if self.dtype.kind in "mM":
            return _times(column, self.dtype)
        if not isinstance(self.dtype, np.dtype):
            return self.dtype.__from_arrow__(column)
        if column.null_count and self.dtype.kind in "biu":
            raise ValueError(f"column {self.description['name']!r} of {self.dtype} contains nulls")
        return _writeable(column)


def _nested_type(schema: str) -> pa.DataType:
    """Return the Arrow type of a nested column, whose description has it."""
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer(b64decode(schema))).field(0).type


def _arrow_type(dtype: Any) -> pa.DataType | None:
    """Return the Arrow type of a column's values in rows; None for objects."""
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
    """Return datetimes or timedeltas from integers, shape (rows,)."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, np.dtype):
        return _writeable(column.cast(pa.from_numpy_dtype(dtype)))
    times = pd.array(_writeable(column.cast(pa.timestamp(dtype.unit))))
    return times.tz_localize("UTC").tz_convert(dtype.tz)


def _writeable(column: pa.ChunkedArray) -> np.ndarray:
    import numpy as np

    # A column of one block is a view of Arrow's memory, which is read-only.
    return np.require(column.to_numpy(), requirements="W")
