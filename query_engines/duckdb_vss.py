"""DuckDB with its extension vss: neighbours by a graph in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine, neighbours_by_scan
from adapter_core.query import TABLE
from adapter_core.query_engine import Part
from adapter_core.query_sql import quoted
from adapter_core.tables.duckdb import extension_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.query import Nearest, Query

_TABLE_OF_FILE = "data"
_INDEX = "HNSW"


class Adapter(SQLEngine):
    """DuckDB's own files with an index HNSW, by the extension vss in a package of its own.

    The newest package is for an earlier DuckDB than the library set has, hence an environment.
    Vectors are searched for one after another: the optimizer takes the index for constant vectors alone,
    and a variable is one without 384 numbers to parse. Without an index, DuckDB's own scan answers.
    """

    label = "vss"
    requires = ("duckdb-extension-vss", "duckdb", "pyarrow>=15", "numpy")
    modules: ClassVar = {"duckdb-extension-vss": "duckdb_extension_vss"}
    environment = "vss"
    reads = ("DuckDB",)
    does: ClassVar = frozenset({Part.COLUMNS, Part.NEAREST})
    indexes: ClassVar = frozenset({"DuckDB"})
    searches_indexes: ClassVar = frozenset({"DuckDB"})
    file_versions: ClassVar = {"DuckDB": "64"}
    notes: ClassVar = {"DuckDB": "the index is kept in the file by an experimental setting"}

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "" if query.nearest else "it searches for neighbours alone"

    def index(self, format_label: str, path: Path, lookups: Sequence[str]) -> None:  # noqa: ARG002
        with _connected(path) as database:
            database.execute("SET hnsw_enable_experimental_persistence = true")
            types = dict(row[:2] for row in database.execute(f"DESCRIBE {_TABLE_OF_FILE}").fetchall())
            for name in lookups:
                if types[name].startswith("FLOAT["):
                    index = f"neighbours_{list(types).index(name)}"
                    where = f"{_TABLE_OF_FILE} USING {_INDEX} ({quoted(name)})"
                    database.execute(f"CREATE INDEX {index} ON {where}")

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:  # noqa: ARG002 (one format)
        database = _connected()
        for name, path in tables.items():
            where = str(path).replace("'", "''")
            database.execute(f"ATTACH '{where}' AS file_{name} (READ_ONLY)")
            database.execute(f"CREATE VIEW {name} AS FROM file_{name}.{_TABLE_OF_FILE}")
        indexes = database.execute(f"FROM duckdb_indexes() WHERE sql LIKE '%{_INDEX}%'").fetchall()
        return {"database": database, "is_indexed": bool(indexes)}

    def close(self, handle: dict[str, Any]) -> None:
        handle["database"].close()

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        if query.nearest is None:
            return super().answer(handle, query)
        find = _neighbours if handle["is_indexed"] else neighbours_by_scan
        return find(handle["database"], query, query.nearest)

    def _execute(self, handle: dict[str, Any], statement: str) -> pa.Table:
        return handle["database"].sql(statement).to_arrow_table()

    def _width(self, handle: dict[str, Any]) -> int:
        return len(handle["database"].execute(f"DESCRIBE {TABLE}").fetchall())


def _connected(path: Path | None = None) -> Any:
    """Return a connection with the extension."""
    import duckdb
    import duckdb_extension_vss

    database = duckdb.connect(path or ":memory:")
    database.load_extension(extension_file(duckdb_extension_vss))
    return database


def _neighbours(database: Any, query: Query, wanted: Nearest) -> pa.Table:
    import pyarrow as pa

    if wanted.candidates > 1:
        database.execute(f"SET hnsw_ef_search = {wanted.count * wanted.candidates}")
    array = f"FLOAT[{len(wanted.vectors[0])}]"
    # Without the view of the table, by which no index is found.
    source = f"file_{TABLE}.{_TABLE_OF_FILE}"
    column, names = quoted(wanted.column), ", ".join(map(quoted, query.columns))
    ordered = f"ORDER BY array_distance({column}, getvariable('wanted')) LIMIT {wanted.count}"
    nearest = f"SELECT {names} FROM {source} WHERE {column} IS NOT NULL {ordered}"  # noqa: S608
    found = []
    for vector in wanted.vectors:
        database.execute(f"SET VARIABLE wanted = ?::{array}", [vector])
        found.append(database.sql(nearest).to_arrow_table())
    return pa.concat_tables(found)
