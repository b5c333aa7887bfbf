"""Touching of lazy data: a memory-mapped file is not read until its pages are touched."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_MAPS = Path("/proc/self/maps")


def touch(df: pd.DataFrame) -> pd.DataFrame:
    """Read one value of every page of a table's values, and return the table.

    Python objects are in memory already.
    """
    for position in range(df.shape[1]):
        for values in arrays_of(df.iloc[:, position].array):
            _touch(values)
    return df


def touch_arrow(table: pa.Table) -> pa.Table:
    """Read one byte of every page of a table's values, and return the table."""
    for column in table.columns:
        for chunk in column.chunks:
            for values in _arrays_of_buffers(chunk):
                _touch(values)
    return table


def touch_array(values: np.ndarray) -> None:
    """Read one byte of every page of an array that maps a file; contiguous as its users need it.

    NumPy's own memory has been written by the library: only memory of others may be a mapped file.
    """
    import numpy as np

    values = np.ascontiguousarray(values)
    owner = values
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not owner.flags.owndata:
        _touch(values.reshape(-1).view(np.uint8))


def arrays_of(values: Any) -> Iterator[np.ndarray]:
    """Yield the memory of a column's values as arrays of one axis, for any dtype, without copies.

    A column of a block of several columns is not contiguous.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if isinstance(values, pd.Categorical):
        values = values.codes
    if isinstance(values, pd.arrays.NumpyExtensionArray) or not hasattr(values, "__arrow_array__"):
        array = np.asarray(values)
        if array.dtype != object and array.size:
            yield array
        return
    arrow = pa.array(values)
    for chunk in arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]:
        yield from _arrays_of_buffers(chunk)


def is_mapped(address: int) -> bool:
    """Return whether an address is in a file that this process has mapped into its memory."""
    if not _MAPS.exists():
        return True  # Linux alone has the list, and what is read twice is better than what is not read
    for line in _MAPS.read_text(encoding="utf-8").splitlines():
        # Address range, permissions, offset, device, inode, path: proc_pid_maps(5).
        span, _, _, _, inode, *_ = line.split(maxsplit=5)
        first, last = (int(each, 16) for each in span.split("-"))
        if first <= address < last:
            return inode != "0"
    return False


def _arrays_of_buffers(chunk: pa.Array) -> Iterator[np.ndarray]:
    import numpy as np

    for buffer in chunk.buffers():
        if buffer is not None and buffer.size:
            yield np.frombuffer(buffer, np.uint8)


def _touch(values: np.ndarray) -> None:
    """Read one value of every page of an array of one axis, whatever its stride."""
    import numpy as np

    stride = max(1, abs(values.strides[0]))
    # A copy of these few values, so that nothing can skip the reads.
    np.ascontiguousarray(values[:: max(1, mmap.PAGESIZE // stride)])
