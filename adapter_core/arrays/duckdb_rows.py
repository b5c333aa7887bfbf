"""Rows of a table through DuckDB: written as a stream, read by bounds on columns."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ArrayReader
from adapter_core.array_description import KEY, Description

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

# DuckDB's names of types by Arrow's.
_TYPES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
}


def values_of(
    connection: Any, table: str, path: str, column: str, bounds: dict[str, tuple[Any, Any]]
) -> np.ndarray:
    """Return a column of the rows within bounds, both inclusive, in the order of the file.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Keeps the order of rows, DuckDB's default.
    table : str
        A call of a table function, with a parameter for the path.
    path : str
        The path, its special characters escaped.
    column : str
        Name of the column of values.
    bounds : dict
        Least and largest value by column.
    """
    import numpy as np

    conditions = [f"{quoted(name)} BETWEEN ? AND ?" for name in bounds]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT {quoted(column)} AS found FROM {table}{where}"  # noqa: S608
    ends = [end for each in bounds.values() for end in each]
    values: Any = connection.execute(query, [path, *ends]).fetchnumpy()["found"]
    return values.data if isinstance(values, np.ma.MaskedArray) else values


def description_of(connection: Any, path: str) -> Description:
    """Return the description in the metadata of a Parquet file, by its escaped path."""
    # parquet_kv_metadata escapes what is not ASCII, which JSON from Description never contains.
    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = ?::BLOB"
    ((text,),) = connection.execute(query, [path, KEY]).fetchall()
    return Description.from_json(text)


class ParquetRows(ArrayReader):
    """An open array in the rows of a Parquet file, which DuckDB selects, beside a reader of rows.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        import duckdb

        self._connection: Any = duckdb.connect()
        self._path = glob.escape(str(path))
        super().__init__(description_of(self._connection, self._path))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _values(self, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
        return values_of(self._connection, "read_parquet(?)", self._path, self.description.name, bounds)


@contextmanager
def streamed(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[Any]:
    """Provide a connection with record batches as the view "given"; raise the errors of their iterator.

    DuckDB reads them as they come, and keeps their order.
    """
    import duckdb
    import pyarrow as pa

    failures: list[Exception] = []

    def noting() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            failures.append(error)
            raise

    with duckdb.connect() as connection:
        connection.register("given", pa.RecordBatchReader.from_batches(schema, noting()))
        try:
            yield connection
        except duckdb.Error:
            # DuckDB turns an error of the iterator into one of its own.
            if failures:
                raise failures[0] from None
            raise


def columns_of(schema: pa.Schema) -> str:
    """Return the names and types of columns of numbers and text, as `read_csv` takes them."""
    pairs = (f"{_text(each.name)}: {_text(_TYPES[str(each.type)])}" for each in schema)
    return f"{{{', '.join(pairs)}}}"


def quoted(name: str) -> str:
    """Return the name of a column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
