"""SQLite with its extension sqlite-vec: neighbours by a scan of bytes, or of a table of vectors."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLiteEngine, table_of_rows
from adapter_core.query import TABLE
from adapter_core.query_engine import Part
from adapter_core.query_sql import Dialect, quoted, sql
from adapter_core.tables.sql import TABLE as TABLE_OF_FILE
from adapter_core.tables.sql import row_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Nearest, Query

_DECLARED = "F32_BLOB"


class Adapter(SQLiteEngine):
    """sqlite-vec in APSW's SQLite, since many builds of Python have one that loads no extensions.

    Both ways compare every vector. A tuned file also has them in a virtual table vec0, in chunks.
    """

    label = "sqlite-vec"
    requires = ("apsw>=3.46", "sqlite-vec>=0.1.6", "pyarrow>=15", "numpy")
    modules: ClassVar = {"sqlite-vec": "sqlite_vec"}
    reads = ("SQLite",)
    does: ClassVar = frozenset({Part.COLUMNS, Part.NEAREST})
    indexes: ClassVar = frozenset({"SQLite"})

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "" if query.nearest else "it searches for neighbours alone"

    def index(self, format_label: str, path: Path, lookups: Sequence[str]) -> None:  # noqa: ARG002
        with closing(self._connected(str(path))) as database, database:
            declared = dict(database.execute(_types("main")))
            number = row_number(declared)
            for name in lookups:
                if number is None or not declared[name].startswith(_DECLARED):
                    continue
                length = declared[name].removeprefix(_DECLARED)
                table = _table_of("main", list(declared).index(name))
                size = length.strip("()")
                database.execute(f"CREATE VIRTUAL TABLE {table} USING vec0(vector float[{size}])")
                column = quoted(name)
                vectors = f"SELECT {number}, {column} FROM {quoted(TABLE_OF_FILE)}"  # noqa: S608
                known = f"WHERE {column} IS NOT NULL"
                database.execute(f"INSERT INTO {table} (rowid, vector) {vectors} {known}")

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        if query.nearest is None:
            return super().answer(handle, query)
        return _neighbours(handle, query, query.nearest)

    def _connected(self, where: str) -> Any:
        import apsw
        import sqlite_vec

        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        database = apsw.Connection(where, flags)
        database.enable_load_extension(True)  # noqa: FBT003 (APSW's parameter)
        database.load_extension(sqlite_vec.loadable_path())
        database.enable_load_extension(False)  # noqa: FBT003 (APSW's parameter)
        return database

    def _statement(self, handle: dict[str, Any], query: Query) -> str:
        return sql(query, handle["names"], "rowid", Dialect.SQLITE)

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        cursor = handle["database"].execute(statement)
        names = [each[0] for each in cursor.get_description()]
        return table_of_rows(cursor.fetchall(), names)

    def _width(self, handle: dict[str, Any]) -> int:
        return len(handle["database"].execute(_types(f"file_{TABLE}")).fetchall())


def _types(schema: str) -> str:
    """Return the query for the names and declared types of the columns."""
    return f"SELECT name, type FROM pragma_table_info('{TABLE_OF_FILE}', '{schema}')"  # noqa: S608


def _table_of(schema: str, number: int) -> str:
    """Return the name of the virtual table of a column."""
    return f"{schema}.neighbours_{number}"


def _neighbours(handle: dict[str, Any], query: Query, wanted: Nearest) -> pa.Table:
    import numpy as np

    database, source = handle["database"], handle["names"][TABLE]
    schema = f"file_{TABLE}"
    columns = [name for name, _ in database.execute(_types(schema))]
    table = _table_of(schema, columns.index(wanted.column))
    names = ", ".join(map(quoted, query.columns))
    virtual = f"SELECT 1 FROM {schema}.sqlite_master WHERE name = ?"  # noqa: S608
    if database.execute(virtual, (table.partition(".")[2],)).fetchall():
        found = f"SELECT rowid FROM {table} WHERE vector MATCH ? AND k = {wanted.count}"  # noqa: S608
        statement = f"SELECT {names} FROM {source} WHERE {row_number(columns)} IN ({found})"  # noqa: S608
    else:
        column = quoted(wanted.column)
        ordered = f"ORDER BY vec_distance_l2({column}, ?) LIMIT {wanted.count}"
        statement = f"SELECT {names} FROM {source} WHERE {column} IS NOT NULL {ordered}"  # noqa: S608
    rows = []
    for vector in np.array(wanted.vectors, "<f4"):
        rows += database.execute(statement, (vector.tobytes(),)).fetchall()
    return table_of_rows(rows, query.columns)
