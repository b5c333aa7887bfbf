"""Touching of lazy data: a memory-mapped file is not read until its pages are touched."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


def touch(df: pd.DataFrame) -> pd.DataFrame:
    """Read one byte of every page of a table's values, and return the table.

    Python objects are in memory already. The cost is small beside a read: 100 MB have 25,600 pages.
    """
    import numpy as np

    for position in range(df.shape[1]):
        for buffer in _buffers(df.iloc[:, position].array):
            data = np.frombuffer(buffer, np.uint8)
            # A sum, so that nothing can skip the read; strided, since one byte brings in its page.
            np.add.reduce(data[:: mmap.PAGESIZE], dtype=np.uint64)
    return df


def touch_arrow(table: pa.Table) -> pa.Table:
    """Read one byte of every page of a table's values, and return the table."""
    import numpy as np

    for column in table.columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                if buffer is not None and buffer.size:
                    data = np.frombuffer(buffer, np.uint8)
                    np.add.reduce(data[:: mmap.PAGESIZE], dtype=np.uint64)
    return table


def touch_array(values: np.ndarray) -> None:
    """Read one byte of every page of an array; make it contiguous first, as its users need it."""
    import numpy as np

    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    np.add.reduce(data[:: mmap.PAGESIZE], dtype=np.uint64)


def _buffers(values: Any) -> Iterator[Any]:
    """Yield the buffers of a column's values, for any dtype."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if isinstance(values, pd.Categorical):
        values = values.codes
    if isinstance(values, pd.arrays.NumpyExtensionArray) or not hasattr(values, "__arrow_array__"):
        array = np.asarray(values)
        if array.dtype != object and array.size:
            yield np.ascontiguousarray(array).view(np.uint8)
        return
    arrow = pa.array(values)
    for chunk in arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]:
        yield from (buffer for buffer in chunk.buffers() if buffer is not None)
