"""SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLiteEngine, table_of_rows
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect, quoted, sql
from adapter_core.tables.sql import row_number

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


class Adapter(SQLiteEngine):
    """SQLite through Python's own library; rows become columns of Arrow in Python."""

    label = "sqlite3"
    requires = ("pyarrow>=15",)
    reads = ("SQLite",)
    compares_times: ClassVar = frozenset(reads)
    notes: ClassVar = {"SQLite": "without an index: pandas makes none"}

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002 (one format)
        if query.compares_zoned_times:
            return "its times with a time zone are texts of local times, which have another order"
        return ""

    def _connected(self, where: str) -> sqlite3.Connection:
        return sqlite3.connect(where, isolation_level=None, uri=True)

    def _statement(self, handle: dict[str, Any], query: Query) -> str:
        # Row identifiers count from 1. An expression of them would be computed for all rows.
        counted = replace(query, positions=[each + 1 for each in query.positions])
        number = row_number(self._columns(handle)) if query.positions else "rowid"
        if number is None:
            raise self.refused("SQLite", "columns have all names of its row numbers")
        return sql(counted, handle["names"], number, Dialect.SQLITE)

    def _given(self, handle: dict[str, Any], statement: str) -> str:
        for name, where in handle["names"].items():
            view = f"CREATE TEMP VIEW IF NOT EXISTS {quoted(name)} AS SELECT * FROM {where}"  # noqa: S608
            handle["database"].execute(view)
        return statement

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        with closing(handle["database"].execute(statement)) as cursor:
            return table_of_rows(cursor.fetchall(), [each[0] for each in cursor.description])

    def _width(self, handle: dict[str, Any]) -> int:
        return len(self._columns(handle))

    def _columns(self, handle: dict[str, Any]) -> list[str]:
        name = handle["names"][TABLE]
        with closing(handle["database"].execute(f"SELECT * FROM {name} LIMIT 0")) as found:  # noqa: S608
            return [each[0] for each in found.description]
