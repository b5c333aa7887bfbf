"""Apache Fory through pyfory."""

from __future__ import annotations

from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd

SIZE = "<i8"
"""How sizes are written in front of the parts of a file."""

NO_LIMIT = 2**62
"""For the memory of what is read: by default, objects of more than 128 MiB are written but not read."""

_NA_IS_LOST = "pyfory writes pandas.NA and cannot read it"


class Adapter(DataFormat):
    """A DataFrame through Apache Fory's native Python mode, its buffers out of band.

    A file holds how many parts there are, the size of each in bytes, and the parts: what Fory makes of
    the table, and the buffers of its columns. In band, a buffer of no bytes, as that of a column of
    nothing but nulls or empty text, ends the process that reads it (pyfory 1.7.7).

    Loading runs code that the file names, and damaged files may crash the process: open no file from a
    source that you do not trust. Fory's strict mode takes no DataFrame, and the columns as a dictionary
    of arrays and lists take five to twenty times as long.
    """

    label = "Fory"
    suffix = ".fory"
    requires = ("pandas", "pyfory>=1.7")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    holds_duplicate_names = True

    def _check_values(self, df: pd.DataFrame) -> None:
        if _holds_na(df.columns):
            raise self.refusal(f"its column names are of dtype string; {_NA_IS_LOST}")
        for position, name in enumerate(df.columns):
            if _holds_na(df.iloc[:, position]):
                raise self.refusal(f"column {name!r} contains pandas.NA, or text with it; {_NA_IS_LOST}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import numpy as np
        from pyfory.serializer import BytesBufferObject

        buffers: list[memoryview] = []

        def stays_in_band(each: Any) -> bool:
            # Otherwise each value of a column of bytes would be a part of the file.
            if isinstance(each, BytesBufferObject):
                return True
            buffers.append(each.getbuffer())
            return False

        table = memoryview(_fory().serialize(df, buffer_callback=stays_in_band))
        sizes = [part.nbytes for part in (table, *buffers)]
        with path.open("wb") as file:
            file.write(np.array([len(sizes), *sizes], SIZE).tobytes())
            file.writelines((table, *buffers))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with path.open("rb") as file:
            first, *others = _sizes(file, path.stat().st_size)
            table = file.read(first)
            buffers = [_buffer(file, size) for size in others]
        return _writeable(_fory().deserialize(table, buffers=buffers))


@cache
def _fory() -> Any:
    """Return what writes and reads tables, made once because that takes as long as to write one.

    What is written in compatible mode no other process could read.
    """
    import pyfory

    return pyfory.ThreadSafeFory(
        xlang=False, ref=False, strict=False, compatible=False, max_graph_memory_bytes=NO_LIMIT
    )


def _sizes(file: BufferedReader, file_bytes: int) -> list[int]:
    """Return the sizes of the parts, in bytes."""
    import numpy as np

    (count,) = np.frombuffer(file.read(8), SIZE)
    sizes: list[int] = np.frombuffer(file.read(min(8 * abs(int(count)), file_bytes)), SIZE).tolist()
    if len(sizes) != count or min(sizes) < 0 or file.tell() + sum(sizes) != file_bytes:
        raise ValueError("the sizes of the parts do not add up to that of the file")
    return sizes


def _buffer(file: BufferedReader, size: int) -> memoryview:
    """Read a part into memory of its own, aligned and free to be written to."""
    import numpy as np

    part = np.empty(size, np.uint8)
    file.readinto(part.data)
    return part.data


def _writeable(df: pd.DataFrame) -> pd.DataFrame:
    """Copy the columns of which Fory keeps arrays in band, and reads them as constants."""
    import pandas as pd

    for position, dtype in enumerate(df.dtypes):
        is_constant = isinstance(dtype, (pd.CategoricalDtype, pd.IntervalDtype))
        if is_constant or hasattr(dtype, "numpy_dtype"):
            df.isetitem(position, df.iloc[:, position].copy())
    return df


def _holds_na(values: pd.Series | pd.Index) -> bool:
    """Tell whether pandas.NA is a value, or the null of a dtype of text."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if isinstance(dtype, pd.StringDtype):
        return dtype.na_value is pd.NA
    return dtype == object and any(value is pd.NA for value in values)
