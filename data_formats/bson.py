"""BSON through pymongo.

Files of BSON documents in pieces, so that not all rows are Python objects at once.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.rows import row_blocks
from adapter_core.traits import Trait
from adapter_core.values import datetimes_beyond

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


READ_BYTES = 2**16
"""What is read of the file at a time: some hundred documents, as many as are written at a time."""

LENGTH = struct.Struct("<i")
"""Begins a document and counts itself: https://bsonspec.org/spec.html"""

SHORTEST_BYTES = 5
"""Length of an empty document."""


def whole_documents(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end where a document ends.

    The last piece ends with the file, where a reader of documents tells one that is incomplete.

    Raises
    ------
    ValueError
        If a document says that it is shorter than an empty one.
    struct.error
        If the file ends within the length of a document.
    """
    while data := file.read(READ_BYTES):
        end = _end_of_documents(data)
        if not end:
            (length,) = LENGTH.unpack_from(data)
            data += file.read(length - len(data))
            end = len(data)
        file.seek(end - len(data), os.SEEK_CUR)
        yield data[:end]


def _end_of_documents(data: bytes) -> int:
    """Return where the last document ends that is complete."""
    end = 0
    while end + SHORTEST_BYTES <= len(data):
        (length,) = LENGTH.unpack_from(data, end)
        if length < SHORTEST_BYTES:
            raise ValueError(f"a BSON document cannot be {length:,} bytes long")
        if end + length > len(data):
            break
        end += length
    return end


PYTHON_YEARS = 1, 9999
"""The years of `datetime.datetime`, which pymongo makes of BSON's datetimes."""

_DATETIMES_ALONE = "BSON has datetimes alone"
_NO_TYPE = "BSON has no type for them"


class Adapter(DataFormat):
    """BSON documents one after another, one a row, as in a file that mongodump writes.

    They are encoded by `bson.encode` and decoded by `bson.decode_all`, both of pymongo. Such a file has
    no place for pandas' dtypes: small integers and floats come back as 64-bit ones, integers and
    booleans among nulls as pandas' nullable ones, datetimes without their zone, in UTC, and categories
    as text. A file that was cut between two documents is a whole one, of fewer.

    MongoDB itself takes no document beyond 16 MB, a limit that no file of documents has.
    """

    label = "BSON"
    suffix = ".bson"
    requires = ("pandas", "pyarrow>=15", "pymongo")
    modules: ClassVar = {"pymongo": "bson"}
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    holds_zero_rows = False
    detects_truncation = False
    refuses: ClassVar = {
        Kind.COMPLEX: _NO_TYPE,
        Kind.DATE: _DATETIMES_ALONE,
        Kind.TIME: _DATETIMES_ALONE,
        Kind.TIMEDELTA: _DATETIMES_ALONE,
        Kind.DECIMAL: "pymongo takes none of Python's",
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: "documents would fill them up",
        Kind.ARROW: "the file keeps no Arrow types of pandas",
        Kind.ARROW_NESTED: "the file keeps no Arrow types of pandas",
        Kind.CATEGORY_NOT_TEXT: "the file keeps no categories",
        Kind.MIXED: "some would come back as other types, as tuples do",
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        for position, kind in enumerate(kinds_of(df)):
            name, column = df.columns[position], df.iloc[:, position]
            if "\0" in name:
                raise self.refusal(f"the column name {name!r} contains a NUL, which ends a name")
            if kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED) and (column.dropna() >= 2**63).any():
                raise self.refusal(f"column {name!r} contains integers beyond BSON's, 2**63 - 1")
            if kind in (Kind.DATETIME, Kind.ZONED_DATETIME) and _finer_than_milliseconds(column):
                raise self.refusal(f"column {name!r} contains datetimes finer than BSON's milliseconds")
        name = datetimes_beyond(df, {Kind.DATETIME, Kind.ZONED_DATETIME}, *PYTHON_YEARS)
        if name is not None:
            raise self.refusal(f"column {name!r} contains datetimes beyond the years 1 to 9999")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import bson

        names = list(df.columns)
        with path.open("wb") as file:
            for rows in row_blocks(df, datetime_objects=True):
                documents = [dict(zip(names, row)) for row in rows]  # noqa: B905 (once a row)
                file.write(b"".join(map(bson.encode, documents)))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd
        import pyarrow as pa

        with path.open("rb") as file:
            batches = list(_batches(file))
        if not batches:
            return pd.DataFrame()
        # Permissive, because a column may hold nothing but nulls in one batch.
        table = pa.concat_tables(batches, promote_options="permissive")
        arrays = dict(enumerate(map(_to_pandas, table.columns)))
        df = pd.DataFrame(arrays, copy=False)
        df.columns = pd.Index(table.column_names, dtype="str")
        return df


def _finer_than_milliseconds(column: pd.Series) -> bool:
    times = column.dropna()
    return bool((times.dt.as_unit("ms") != times).any())


def _batches(file: BinaryIO) -> Iterator[pa.Table]:
    """Yield the documents of a file as tables, with the columns of the first document."""
    import bson
    import pyarrow as pa

    names: list[str] = []
    for data in whole_documents(file):
        documents: list[dict[str, Any]] = bson.decode_all(data)
        names = names or list(documents[0])
        if set(map(len, documents)) != {len(names)}:
            raise ValueError("the documents have not all the same fields")
        columns = [pa.array(map(itemgetter(name), documents)) for name in names]
        yield pa.table(columns, names)


def _to_pandas(column: pa.ChunkedArray) -> Any:
    """Return a column in pandas' dtype for it, a nullable one where NumPy has no nulls."""
    import pandas as pd
    import pyarrow as pa

    nullable = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
    }
    if column.null_count and column.type in nullable:
        return nullable[column.type].__from_arrow__(column)
    # Of a single batch, Arrow gives its own memory, which nothing may be written to.
    return column.to_pandas().copy() if column.num_chunks == 1 else column.to_pandas()
