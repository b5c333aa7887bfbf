"""DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine, neighbours_by_scan
from adapter_core.query import TABLE
from adapter_core.query_engine import ALL_PARTS, Part
from adapter_core.query_sql import literal, sql

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from adapter_core.query import Query

# With the whole dialect: a quote that comes late would be taken for a character.
_TEXT_READERS = {
    "CSV": "read_csv('{path}', header = true, delim = ',', quote = '\"', escape = '\"', comment = '', "
    "nullstr = '\\N', hive_partitioning = false, {types})",
    "JSON": "read_json('{path}', format = 'newline_delimited', records = 'true', "
    "map_inference_threshold = -1, hive_partitioning = false, {types})",
}
_DATABASE = "DuckDB"
_TABLE_OF_FILE = "data"


class Adapter(SQLEngine):
    """DuckDB: its own files, Parquet, CSV and JSON by itself, others as data sets of Arrow.

    Its extensions for Avro, Delta Lake, Iceberg, Lance and Vortex are downloads, which a measurement
    must not depend on.
    """

    label = "duckdb"
    requires = ("duckdb", "pyarrow>=15")
    reads = ("CSV", "Delta", "DuckDB", "Feather", "JSON", "Lance", "ORC", "Parquet", "Vortex")
    does: ClassVar = ALL_PARTS | {Part.NEAREST}
    compares_times: ClassVar = frozenset(reads) - {"JSON"}
    compares_decimals: ClassVar = frozenset(reads) - {"CSV", "JSON"}
    notes: ClassVar = {
        "CSV": "a column whose first values are infinite, or that has none, is taken for text; of "
        "nanoseconds, microseconds are left",
        "Delta": "as a data set of Arrow, of the files that deltalake names",
        "Feather": "as a data set of Arrow",
        "Lance": "as a data set of Arrow, from pylance",
        "ORC": "as a data set of Arrow",
        "Parquet": "time spans are integers",
        "Vortex": "as a data set of Arrow, from vortex-data; Arrow applies conditions after the scan",
    }

    def unsupported(self, format_label: str, query: Query) -> str:
        if query.positions and format_label not in {"DuckDB", "Parquet"}:
            return "it gives no numbers to the rows of such a file"
        return ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        import duckdb

        database = duckdb.connect()
        for name, path in tables.items():
            where = str(path).replace("'", "''")
            if format_label == _DATABASE:
                database.execute(f"ATTACH '{where}' AS file_{name} (READ_ONLY)")
                database.execute(f"CREATE VIEW {name} AS FROM file_{name}.{_TABLE_OF_FILE}")
            elif format_label == "Parquet":
                database.execute(f"CREATE VIEW {name} AS FROM read_parquet('{where}')")
            elif format_label in _TEXT_READERS:
                reader = _text_reader(database, _TEXT_READERS[format_label], where)
                database.execute(f"CREATE VIEW {name} AS FROM {reader}")
            else:
                database.register(name, _arrow_dataset(format_label, path))
        return {"database": database, "format": format_label, "tables": tables}

    def close(self, handle: dict[str, Any]) -> None:
        handle["database"].close()

    def answer(self, handle: Any, query: Query) -> pa.Table:
        if query.nearest is None:
            return super().answer(handle, query)
        return neighbours_by_scan(handle["database"], query, query.nearest)

    def _statement(self, handle: Any, query: Query) -> str:
        if not query.positions:
            return sql(query)
        number = "rowid" if handle["format"] == _DATABASE else "file_row_number"
        if number in map(str.lower, self._columns(handle)):
            raise self.refused(handle["format"], f"a column has the name of its row numbers, {number}")
        if handle["format"] == _DATABASE:
            # A list of row numbers is a filter on all rows; a join with them is not.
            numbers = ", ".join(f"({each})" for each in query.positions)
            source = f"(SELECT * FROM file_{TABLE}.{_TABLE_OF_FILE} AS rows SEMI JOIN (VALUES {numbers})"  # noqa: S608 (numbers)
            whole = f"{source} AS wanted(number) ON rows.rowid = wanted.number)"
            return sql(replace(query, positions=()), {TABLE: whole})
        where = str(handle["tables"][TABLE]).replace("'", "''")
        source = f"read_parquet('{where}', file_row_number = true)"
        return sql(query, {TABLE: source}, number)

    def _execute(self, handle: Any, statement: str) -> pa.Table:
        import duckdb

        database: duckdb.DuckDBPyConnection = handle["database"]
        try:
            return database.sql(statement).to_arrow_table()
        except duckdb.InvalidInputException as error:
            # It depends on the types of all columns, so that only pylance knows.
            if handle["format"] == "Lance" and "substrait" in str(error).lower():
                reason = "pylance refuses the condition that DuckDB hands it"
                raise self.refused("Lance", reason) from error
            raise

    def _width(self, handle: Any) -> int:
        return len(self._columns(handle))

    def _columns(self, handle: Any) -> list[str]:
        return [each[0] for each in handle["database"].execute(f"DESCRIBE {TABLE}").fetchall()]


def _text_reader(database: duckdb.DuckDBPyConnection, reader: str, path: str) -> str:
    """Return the call that reads a file of text, with the types that all of its rows have.

    DuckDB infers them from 20,480 rows, and loses or rounds later values of other types.
    """
    inferring = reader.format(path=path, types="sample_size = -1")
    found = database.execute(f"DESCRIBE FROM {inferring}").fetchall()
    types = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind, *_ in found)
    return reader.format(path=path, types=f"auto_detect = false, columns = {{{types}}}")


def _arrow_dataset(format_label: str, path: Path) -> Any:
    import pyarrow.dataset as ds

    if format_label == "Lance":
        import lance

        return lance.dataset(path)
    if format_label == "Vortex":
        import vortex

        return _filtered_by_arrow(vortex.open(str(path), without_segment_cache=True).to_dataset())
    if format_label == "Delta":
        import deltalake

        # By the log's statistics, deltalake's own data set leaves out files with infinite numbers.
        return ds.dataset(deltalake.DeltaTable(path).file_uris(), format="parquet")
    return ds.dataset(path, format={"Feather": "ipc", "ORC": "orc"}[format_label])


def _filtered_by_arrow(rows: Any) -> Any:
    """Return a data set of Vortex to whose rows Arrow applies the conditions that DuckDB hands over.

    Vortex takes -0.0 for less than 0.0 in them, and no lists or unsigned numbers. DuckDB hands none over
    if the table has texts, which are views in Vortex's batches.
    """
    import pyarrow.dataset as ds

    class Filtered(ds.Dataset):  # type: ignore[misc]
        def __init__(self) -> None:
            """Leave out the constructor of the class, which refuses to be called."""

        @property
        def schema(self) -> pa.Schema:
            return rows.schema

        def scanner(self, columns: list[str] | None = None, **options: Any) -> ds.Scanner:
            where = options.pop("filter", None)
            if where is None:
                return rows.scanner(columns, **options)
            # Columns of conditions alone are not among those asked for, and are known by their text.
            text = str(where)
            compared = [name for name in rows.schema.names if name in text]
            read = None if columns is None else list(dict.fromkeys([*columns, *compared]))
            batches = rows.scanner(read, **options).to_reader()
            return ds.Scanner.from_batches(batches, columns=columns, filter=where)

    return Filtered()
