"""DuckDB with its extension for geometries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.geometries import GEOMETRY
from adapter_core.queries.database import SQLEngine
from adapter_core.query import TABLE
from adapter_core.query_engine import ALL_PARTS, Part
from adapter_core.query_sql import condition, quoted, sql
from adapter_core.tables.duckdb import extension_file
from adapter_core.tables.gdal import LAYER

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from adapter_core.query import Nearest, Query

_POINTS = "wanted_points"

# Columns that GDAL adds, and its name of geometries.
_NUMBERS = {"fid", "OGC_FID"}
_GEOMETRY_OF_GDAL = "geom"


class Adapter(SQLEngine):
    """DuckDB and its extension `spatial`: GeoParquet by itself, other files by the GDAL in it.

    The package of the extension is for an older DuckDB than the library set's, and has a GDAL, hence the
    environment.
    SpatiaLite's files are left out: its SQLite crashes in a process in which pyogrio has written one.
    """

    label = "duckdb.spatial"
    requires = ("duckdb==1.5.5", "duckdb-extension-spatial==1.5.5", "pyarrow>=15")
    modules: ClassVar = {"duckdb-extension-spatial": "duckdb_extension_spatial"}
    environment = "geospatial"
    reads = ("FlatGeobuf", "GeoJSON", "GeoPackage", "GeoParquet")
    compares_times: ClassVar = frozenset({"GeoParquet"})
    compares_decimals: ClassVar = frozenset({"GeoParquet"})
    does: ClassVar = (ALL_PARTS - {Part.POSITIONS}) | {Part.GEOMETRIES}
    notes: ClassVar = {
        "GeoJSON": "a column of nulls alone is text",
        "GeoParquet": "of nanoseconds with a time zone, microseconds are left; time spans are integers",
    }

    def unsupported(self, format_label: str, query: Query) -> str:
        if query.shape and format_label in {"FlatGeobuf", "GeoJSON"}:
            return "it adds a column of geometries to a table without any"
        return "it gives no numbers to the rows of such a file" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        import duckdb
        import duckdb_extension_spatial

        database = duckdb.connect()
        database.load_extension(extension_file(duckdb_extension_spatial))
        covering, covered = "", TABLE
        for name, path in tables.items():
            where = str(path).replace("'", "''")
            if format_label == "GeoParquet":
                source, bounds = f"read_parquet('{where}')", _covering(path)
                # The column of a tuned file with the bounds is none of the table's own.
                columns = f"* EXCLUDE ({bounds})" if bounds else "*"
                database.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM {source}")  # noqa: S608 (quoted)
                if name == TABLE:
                    covering, covered = bounds, f"{source} AS {TABLE}"
                continue
            source = f"ST_Read('{where}', layer = '{LAYER}')"
            names = [each[0] for each in database.execute(f"DESCRIBE FROM {source}").fetchall()]
            wanted = ", ".join(
                f"{quoted(each)} AS {GEOMETRY}" if each == _GEOMETRY_OF_GDAL else quoted(each)
                for each in names
                if each not in _NUMBERS
            )
            database.execute(f"CREATE VIEW {name} AS SELECT {wanted} FROM {source}")  # noqa: S608 (quoted)
        return {"database": database, "covering": covering, "covered": covered}

    def close(self, handle: dict[str, Any]) -> None:
        handle["database"].close()

    def _statement(self, handle: Any, query: Query) -> str:
        if not query.asks_geometries:
            return sql(query)
        if query.nearest:
            return _near(query, query.nearest)
        source, where = handle["covered"], []
        if query.join and query.join.intersects:
            one, other = (f"{each}.{GEOMETRY}" for each in (TABLE, query.join.table))
            source += f" JOIN {query.join.table} ON ST_Intersects({one}, {other})"
        if query.box:
            left, lower, right, upper = query.box.bounds
            box = f"ST_MakeEnvelope({left!r}, {lower!r}, {right!r}, {upper!r})"
            where.append(f"ST_Intersects({TABLE}.{quoted(query.box.column)}, {box})")
            if covering := handle["covering"]:
                # The reader does not know that these are the bounds of the geometries.
                where.append(f"{covering}.xmin <= {right!r} AND {covering}.xmax >= {left!r}")
                where.append(f"{covering}.ymin <= {upper!r} AND {covering}.ymax >= {lower!r}")
        where += map(condition, query.where)
        rows = f"FROM {source}" + (f" WHERE {' AND '.join(where)}" if where else "")
        if query.columns:
            return f"SELECT {_selected(query)} {rows}"
        # Groups and aggregates, of the rows that geometries select.
        names = {*query.groups, *(each.column for each in query.aggregates if each.column)}
        inside = f"(SELECT {', '.join(map(quoted, names)) or '1'} {rows})"
        return sql(replace(query, box=None, join=None, where=()), {TABLE: inside})

    def _execute(self, handle: Any, statement: str) -> pa.Table:
        database: duckdb.DuckDBPyConnection = handle["database"]
        return database.sql(statement).to_arrow_table()

    def _width(self, handle: Any) -> int:
        return len(handle["database"].execute(f"DESCRIBE {TABLE}").fetchall())


def _covering(path: Path) -> str:
    """Return the name of the column with the bounds of geometries; empty if a file has none."""
    import pyarrow.parquet as pq

    note = json.loads((pq.read_schema(path).metadata or {}).get(b"geo", b"{}"))
    covering = note.get("columns", {}).get(note.get("primary_column"), {}).get("covering")
    return quoted(covering["bbox"]["xmin"][0]) if covering else ""


def _selected(query: Query) -> str:
    return ", ".join(
        f"{_as_read(each)} AS {GEOMETRY}" if each == GEOMETRY else quoted(each) for each in query.columns
    )


def _as_read(name: str) -> str:
    """Return a column of the table, with geometries in WKB."""
    column = f"{TABLE}.{quoted(name)}"
    return f"ST_AsWKB({column})" if name == GEOMETRY else column


def _near(query: Query, nearest: Nearest) -> str:
    """Return the statement for the rows nearest to each point, point after point."""
    points = ", ".join(f"({place}, {x!r}, {y!r})" for place, (x, y) in enumerate(nearest.vectors))
    # The table may have columns with the names of the points', too.
    place, point = f"{_POINTS}.place", f"ST_Point({_POINTS}.x, {_POINTS}.y)"
    distance = f"ST_Distance({TABLE}.{quoted(nearest.column)}, {point})"
    row = ", ".join(f"{quoted(each)} := {_as_read(each)}" for each in query.columns)
    first = f"unnest(arg_min(struct_pack({row}), {distance}, {nearest.count}), recursive := true)"
    source = f"{TABLE}, (VALUES {points}) AS {_POINTS}(place, x, y)"
    # Its distance from a geometry without coordinates is 0.
    source += f" WHERE NOT ST_IsEmpty({TABLE}.{quoted(nearest.column)})"
    return f"SELECT {first} FROM {source} GROUP BY {place} ORDER BY {place}"  # noqa: S608 (numbers, quoted)
