"""BSON through pymongo."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import AS_BYTES, BatchedReads, FilteredReads, Kind, RowReads, Snippet, Trait, kinds_of
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import with_types
from adapter_core.tables.arrow_parts import common_schema
from adapter_core.tables.rows import pieces, row_blocks
from adapter_core.values import datetimes_beyond_python, integers_beyond_int64

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


# Some hundred documents, about as many as are written at a time.
_READ_BYTES = 2**16

# A document starts with its length, which counts itself: https://bsonspec.org/spec.html
_LENGTH = struct.Struct("<i")
_SHORTEST_BYTES = 5

_DATETIMES_ONLY = "BSON has datetimes only"
_NO_TYPE = "BSON has no type for them"


class Adapter(RowReads, FilteredReads, BatchedReads):
    """BSON documents one after another, one a row, as in the files of mongodump.

    `bson.encode` and `bson.decode_all` are pymongo's. Such a file cannot contain pandas' dtypes: small
    integers and floats come back as 64-bit ones, integers and booleans among nulls as nullable dtypes,
    datetimes without their zone, in UTC, and categories as text. A file that was cut between two
    documents is complete, with fewer rows.

    MongoDB itself refuses documents beyond 16 MB, a limit that files of documents do not have.
    """

    label = "BSON"
    suffix = ".bson"
    requires = ("pandas", "pyarrow>=15", "pymongo")
    local_only = AS_BYTES
    modules: ClassVar = {"pymongo": "bson"}
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    holds_nul_in_names = False
    holds_zero_rows = False
    detects_truncation = False
    refuses: ClassVar = {
        Kind.COMPLEX: _NO_TYPE,
        Kind.DATE: _DATETIMES_ONLY,
        Kind.TIME: _DATETIMES_ONLY,
        Kind.TIMEDELTA: _DATETIMES_ONLY,
        Kind.DECIMAL: "pymongo does not take Python's",
        Kind.WIDE_DECIMAL: "pymongo does not take Python's",
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: "documents would fill them up",
        Kind.ARROW: "the file keeps no Arrow types of pandas",
        Kind.OTHER_NESTED: _NO_TYPE,
        Kind.CATEGORY_NOT_TEXT: "the file keeps no categories",
        Kind.MIXED: "some would come back as other types, as tuples do",
    }
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import bson\nimport pandas as pd",
        write="""
            rows = df.astype(object).where(df.notna(), None)
            with open({path}, "wb") as file:
                for row in rows.to_dict("records"):
                    file.write(bson.encode(row))
        """,
        read="""
            with open({path}, "rb") as file:
                df = pd.DataFrame(bson.decode_all(file.read()))
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
    )

    refuses_inside: ClassVar = dict.fromkeys(
        (Kind.DATETIME, Kind.ZONED_DATETIME), "only columns of them are written as BSON's own"
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        for position, kind in enumerate(kinds_of(df)):
            name, column = df.columns[position], df.iloc[:, position]
            if kind in (Kind.DATETIME, Kind.ZONED_DATETIME) and _finer_than_milliseconds(column):
                self._refuse_column(name, "datetimes finer than BSON's milliseconds")
        self._refuse_column(integers_beyond_int64(df), "integers beyond BSON's, 2**63 - 1")
        self._refuse_column(datetimes_beyond_python(df), "datetimes beyond the years 1 to 9999")

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
        # Permissive, since a column may be all null in one batch.
        table = pa.concat_tables(batches, promote_options="permissive")
        return _frame_of(table)

    def _column_names(self, path: Path) -> list[str]:
        with path.open("rb") as file:
            return next((batch.column_names for batch in _batches(file)), [])

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with path.open("rb") as file:
            # The types of the columns depend on all documents.
            schema, nullable = common_schema(_batches(file))
            file.seek(0)
            for batch in _batches(file):
                yield from pieces(_frame_of(with_types(batch, schema.types), nullable), batch_rows)


def whole_documents(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces of whole documents.

    Not all rows are Python objects at once then. The last piece may end with an incomplete document,
    which the decoder refuses.

    Raises
    ------
    ValueError
        If a document is shorter than an empty one.
    struct.error
        If the file ends within the length of a document.
    """
    while data := file.read(_READ_BYTES):
        end = _end_of_documents(data)
        if not end:
            (length,) = _LENGTH.unpack_from(data)
            data += file.read(length - len(data))
            end = len(data)
        file.seek(end - len(data), os.SEEK_CUR)
        yield data[:end]


def _end_of_documents(data: bytes) -> int:
    """Return the end of the last complete document."""
    end = 0
    while end + _SHORTEST_BYTES <= len(data):
        (length,) = _LENGTH.unpack_from(data, end)
        if length < _SHORTEST_BYTES:
            raise ValueError(f"a BSON document cannot be {length:,} bytes long")
        if end + length > len(data):
            break
        end += length
    return end


def _finer_than_milliseconds(column: pd.Series) -> bool:
    times = column.dropna()
    return bool((times.dt.as_unit("ms") != times).any())


def _batches(file: BinaryIO) -> Iterator[pa.Table]:
    """Yield the documents of a file as tables with the columns of the first document."""
    import bson
    import pyarrow as pa

    names: list[str] = []
    for data in whole_documents(file):
        documents: list[dict[str, Any]] = bson.decode_all(data)
        names = names or list(documents[0])
        if set(map(len, documents)) != {len(names)}:
            raise ValueError("the documents differ in their fields")
        columns = [pa.array(map(itemgetter(name), documents)) for name in names]
        yield pa.table(columns, names)


def _frame_of(table: pa.Table, nullable: Collection[str] = ()) -> pd.DataFrame:
    """Return a table in pandas' dtypes, also of columns with nulls in other rows."""
    import pandas as pd

    columns = zip(table.column_names, table.columns, strict=True)
    arrays = [_to_pandas(column, is_nullable=name in nullable) for name, column in columns]
    df = pd.DataFrame(dict(enumerate(arrays)), copy=False)
    df.columns = pd.Index(table.column_names, dtype="str")
    return df


def _to_pandas(column: pa.ChunkedArray, *, is_nullable: bool) -> Any:
    """Return a column in pandas' dtype for it, a nullable one where NumPy lacks nulls."""
    import pandas as pd
    import pyarrow as pa

    nullable = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
    }
    if (is_nullable or column.null_count) and column.type in nullable:
        return nullable[column.type].__from_arrow__(column)
    if pa.types.is_nested(column.type):
        return pd.arrays.ArrowExtensionArray(column)
    # A column of one batch is a view of Arrow's memory, which is read-only.
    return column.to_pandas().copy() if column.num_chunks == 1 else column.to_pandas()
