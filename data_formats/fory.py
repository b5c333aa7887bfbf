"""Apache Fory through pyfory."""

from __future__ import annotations

from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import AS_BYTES, DataFormat, Snippet, Trait
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import pandas as pd

SIZE = "<i8"
"""Dtype of the sizes at the start of a file."""

# By default, objects of more than 128 MiB are written but not read.
_NO_LIMIT = 2**62

_NA_IS_LOST = "pyfory writes pandas.NA and cannot read it"


class Adapter(DataFormat):
    """A DataFrame through Apache Fory's native Python mode, its buffers out of band.

    A file contains the number of its parts, the size of each in bytes, and the parts: Fory's encoding
    of the table, and the buffers of its columns. In band, a buffer of no bytes, e.g. of a column of
    nulls or empty text, ends the process that reads it (pyfory 1.7.7).

    Loading runs code that the file names, and damaged files may crash the process, as 12 of 56 did when
    text was used: open files from trusted sources only. Fory's strict mode refuses a DataFrame, and its
    columns as a dictionary of arrays and lists take five to twenty times as long.
    """

    label = "Fory"
    suffix = ".fory"
    requires = ("pandas", "pyfory>=1.7")
    local_only = AS_BYTES
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    crash_on_damage = (
        "damaged offsets of text end the process (SIGABRT, SIGSEGV) when the values are used"
    )
    holds_duplicate_names = True
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import pyfory",
        write="""
            fory = pyfory.ThreadSafeFory(
                xlang=False, ref=False, strict=False, compatible=False, max_graph_memory_bytes=2**62
            )
            with open({path}, "wb") as file:
                file.write(fory.serialize(df))
        """,
        read="""
            fory = pyfory.ThreadSafeFory(
                xlang=False, ref=False, strict=False, compatible=False, max_graph_memory_bytes=2**62
            )
            with open({path}, "rb") as file:
                df = fory.deserialize(file.read())
        """,
        differs="FormatBench's own files contain the columns beside the table, to save a copy of each",
        notes=("reading runs code in the file: read no file from others",),
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        if _contains_na(df.columns):
            raise self.refusal(f"its column names are of dtype string; {_NA_IS_LOST}")
        for position, name in enumerate(df.columns):
            if _contains_na(df.iloc[:, position]):
                self._refuse_column(name, f"pandas.NA, or text with it; {_NA_IS_LOST}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import numpy as np
        from pyfory.serializer import BytesBufferObject

        buffers: list[memoryview] = []

        def stays_in_band(each: Any) -> bool:
            # Otherwise each value of a column of bytes would be a part of its own.
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
    """Return the serializer, made once, since that takes as long as writing a table."""
    import pyfory

    # In compatible mode, other processes cannot read the files.
    return pyfory.ThreadSafeFory(
        xlang=False, ref=False, strict=False, compatible=False, max_graph_memory_bytes=_NO_LIMIT
    )


def _sizes(file: BufferedReader, file_bytes: int) -> list[int]:
    """Return the sizes of the parts, in bytes."""
    import numpy as np

    (count,) = np.frombuffer(file.read(8), SIZE)
    sizes: list[int] = np.frombuffer(file.read(min(8 * abs(int(count)), file_bytes)), SIZE).tolist()
    if len(sizes) != count or min(sizes) < 0 or file.tell() + sum(sizes) != file_bytes:
        raise ValueError("the sizes of the parts do not add up to the file's")
    return sizes


def _buffer(file: BufferedReader, size: int) -> memoryview:
    """Read a part into memory of its own, aligned and writeable."""
    import numpy as np

    part = np.empty(size, np.uint8)
    file.readinto(part.data)
    return part.data


def _writeable(df: pd.DataFrame) -> pd.DataFrame:
    """Copy the columns whose arrays Fory stores in band, and reads as read-only."""
    import pandas as pd

    for position, dtype in enumerate(df.dtypes):
        is_constant = isinstance(dtype, (pd.CategoricalDtype, pd.IntervalDtype))
        if is_constant or hasattr(dtype, "numpy_dtype"):
            df.isetitem(position, df.iloc[:, position].copy())
    return df


def _contains_na(values: pd.Series | pd.Index) -> bool:
    """Return True if pandas.NA is a value, or the null of a dtype of text."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if isinstance(dtype, pd.StringDtype):
        return dtype.na_value is pd.NA
    return dtype == object and any(value is pd.NA for value in values)
