"""Columns of a table from blocks of Python values, as `adapter_core.row_blocks` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Column:
    """Values of one column, gathered block by block.

    Parameters
    ----------
    note : dict
        One of the columns of `adapter_core.row_tables.Note`.
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
