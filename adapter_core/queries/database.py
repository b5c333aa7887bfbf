"""Engines that take SQL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import floats_of, shape_of
from adapter_core.query_engine import QueryEngine
from adapter_core.query_sql import Dialect, nearest_sql, quoted, sql
from adapter_core.tables.sql import TABLE

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Nearest, Query

# Name of DuckDB's table of the vectors whose neighbours are asked for.
_WANTED = "wanted_vectors"


class SQLEngine(QueryEngine):
    """Engine that answers SQL on the tables of its handle."""

    def answer(self, handle: Any, query: Query) -> pa.Table:
        """Return the answer of one statement, or the shape by a count and the schema."""
        if query.shape:
            rows = self._execute(handle, sql(query)).column(0)[0].as_py()
            return shape_of(rows, self._width(handle))
        if query.statement:
            return self._execute(handle, self._given(handle, query.statement))
        return self._execute(handle, self._statement(handle, query))

    def _statement(self, handle: Any, query: Query) -> str:  # noqa: ARG002 (a dialect may need it)
        """Return a query in the engine's dialect."""
        return sql(query)

    def _given(self, handle: Any, statement: str) -> str:  # noqa: ARG002 (few prepare anything)
        """Return a statement on tables by their names, as the engine takes it."""
        return statement

    @abstractmethod
    def _execute(self, handle: Any, statement: str) -> pa.Table:
        """Return the result of a statement."""

    @abstractmethod
    def _width(self, handle: Any) -> int:
        """Return the number of columns of the table."""


class TypedSQLEngine(SQLEngine):
    """Engine that answers SQL in a dialect of its own, which depends on the columns' types."""

    dialect: ClassVar[Dialect]

    @abstractmethod
    def _schema(self, handle: Any) -> pa.Schema:
        """Return the schema of the table."""

    def _statement(self, handle: Any, query: Query) -> str:
        floats = floats_of(self._schema(handle)) if query.groups else ()
        return sql(query, dialect=self.dialect, floats=floats)

    def _width(self, handle: Any) -> int:
        return len(self._schema(handle))


class SQLiteEngine(SQLEngine):
    """Engine of SQLite, which attaches files to a database in memory."""

    @abstractmethod
    def _connected(self, where: str) -> Any:
        """Return a connection to a database, whose attached files may be named by URIs."""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:  # noqa: ARG002 (one format)
        """Attach the files; return the connection, and the names of their tables."""
        database, names = self._connected(":memory:"), {}
        for name, path in tables.items():
            database.execute(f"ATTACH ? AS file_{name}", (f"{path.absolute().as_uri()}?mode=ro",))
            names[name] = f"file_{name}.{quoted(TABLE)}"
        return {"database": database, "names": names}

    def close(self, handle: dict[str, Any]) -> None:
        """Close the connection."""
        handle["database"].close()


def neighbours_by_scan(database: Any, query: Query, nearest: Nearest) -> pa.Table:
    """Return the rows nearest to each vector by one statement of DuckDB, which compares all vectors."""
    import numpy as np
    import pyarrow as pa

    vectors = np.array(nearest.vectors, np.float32)
    arrays = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    database.register(_WANTED, pa.table({"number": np.arange(len(vectors)), "vector": arrays}))
    found: pa.Table = database.sql(nearest_sql(query, nearest, _WANTED)).to_arrow_table()
    return found


def table_of_rows(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pa.Table:
    """Return rows of Python values as a table of named columns."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.Table.from_arrays([pa.array(each) for each in columns], list(names))
