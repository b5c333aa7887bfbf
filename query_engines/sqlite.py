"""SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect, quoted, sql
from adapter_core.tables.sql import TABLE as TABLE_OF_FILE

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


class Adapter(SQLEngine):
    """SQLite through Python's own library; rows become columns of Arrow in Python."""

    label = "sqlite3"
    requires = ("pyarrow>=15",)
    reads = ("SQLite",)
    notes: ClassVar = {"SQLite": "without an index: pandas makes none"}

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:  # noqa: ARG002 (one format)
        database = sqlite3.connect(":memory:", isolation_level=None, uri=True)
        names = {}
        for name, path in tables.items():
            database.execute(f"ATTACH ? AS file_{name}", (f"{path.absolute().as_uri()}?mode=ro",))
            names[name] = f"file_{name}.{quoted(TABLE_OF_FILE)}"
        return {"database": database, "names": names}

    def close(self, handle: dict[str, Any]) -> None:
        handle["database"].close()

    def _statement(self, handle: dict[str, Any], query: Query) -> str:
        # Row identifiers count from 1. An expression of them would be computed for all rows.
        counted = replace(query, positions=[each + 1 for each in query.positions])
        return sql(counted, handle["names"], "rowid", Dialect.SQLITE)

    def _given(self, handle: dict[str, Any], statement: str) -> str:
        for name, where in handle["names"].items():
            view = f"CREATE TEMP VIEW IF NOT EXISTS {quoted(name)} AS SELECT * FROM {where}"  # noqa: S608
            handle["database"].execute(view)
        return statement

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        import pyarrow as pa

        with closing(handle["database"].execute(statement)) as cursor:
            names = [each[0] for each in cursor.description]
            columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
        return pa.Table.from_arrays([pa.array(each) for each in columns], names)

    def _width(self, handle: dict[str, Any]) -> int:
        name = handle["names"][TABLE]
        with closing(handle["database"].execute(f"SELECT * FROM {name} LIMIT 0")) as found:  # noqa: S608
            return len(found.description)
