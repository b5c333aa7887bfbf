"""chDB, ClickHouse in this process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine
from adapter_core.query import TABLE
from adapter_core.query_sql import Dialect, sql

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query

_FORMATS = {
    "Avro": "Avro",
    "Feather": "Arrow",
    "JSON": "JSONEachRow",
    "ORC": "ORC",
    "Parquet": "Parquet",
}

_SETTINGS = {
    # Else later answers come from what earlier ones have left in memory.
    "use_cache_for_count_from_files": 0,
    "schema_inference_use_cache_for_file": 0,
    # By default, types of JSON are those of 25,000 records or 32 MiB.
    "input_format_max_rows_to_read_for_schema_inference": 2**63 - 1,
    "input_format_max_bytes_to_read_for_schema_inference": 2**63 - 1,
    "output_format_arrow_string_as_string": 1,
    # SQL's meaning, where ClickHouse has another by default: a sum of no values is null, not 0, and a
    # name in a group is a column's.
    "aggregate_functions_null_for_empty": 1,
    "prefer_column_name_to_alias": 1,
}


class Adapter(SQLEngine):
    """chDB through a connection, with a view of each file by the table function `file`.

    Its packages take half a gigabyte, so it has an environment of its own. CSV is left out: it takes
    pandas' booleans for text.
    """

    label = "chdb"
    requires = ("chdb>=4", "pyarrow>=15")
    environment = "chdb"
    reads = ("Avro", "Feather", "JSON", "ORC", "Parquet")
    compares_times: ClassVar = frozenset({"Feather", "ORC", "Parquet"})
    compares_decimals: ClassVar = frozenset({"Avro", "Feather", "ORC", "Parquet"})
    notes: ClassVar = {
        "Avro": "times without a zone, and times of day, are integers of microseconds",
        "JSON": "a table with integers on both sides of 2**63 in a column is not read, and a column of "
        "nulls alone has no sum",
        "Parquet": "time spans are integers, and times of day times of 1970-01-01",
    }

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "it gives no numbers to rows" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> _Database:
        database = _Database()
        for name, path in tables.items():
            source = f"{_literal(str(path.absolute()))}, '{_FORMATS[format_label]}'"
            if format_label == "JSON":
                source += f", {_literal(database.structure(source))}"
            source = f"file({source})"
            database.connection.query(f"CREATE VIEW {name} AS SELECT * FROM {source}")  # noqa: S608 (a path)
        return database

    def close(self, handle: _Database) -> None:
        handle.connection.close()

    def _statement(self, handle: _Database, query: Query) -> str:
        floats = handle.floats if query.groups else ()
        return sql(query, dialect=Dialect.CHDB, floats=floats)

    def _execute(self, handle: _Database, statement: str) -> pa.Table:
        return handle.answer(statement)

    def _width(self, handle: _Database) -> int:
        return handle.answer(f"DESCRIBE {TABLE}").num_rows


class _Database:
    """Database in memory, with a view of each file."""

    def __init__(self) -> None:
        import chdb

        self.connection: Any = chdb.connect(":memory:")
        for name, value in _SETTINGS.items():
            self.connection.query(f"SET {name} = {value}")

    def answer(self, statement: str) -> pa.Table:
        """Return the result of a statement."""
        import pyarrow as pa

        found = self.connection.query(statement, "Arrow").bytes()
        return pa.ipc.open_file(pa.py_buffer(found)).read_all()

    def structure(self, file: str) -> str:
        """Return the types of the columns of a file, which each answer would infer again."""
        rows = self.answer(f"DESCRIBE file({file})").to_pylist()
        return ", ".join(f"{_literal(each['name'], '`')} {each['type']}" for each in rows)

    @cached_property
    def floats(self) -> set[str]:
        """Names of the columns of floats in the usual table."""
        rows = self.answer(f"DESCRIBE {TABLE}").to_pylist()
        return {each["name"] for each in rows if "Float" in each["type"]}


def _literal(text: str, quote: str = "'") -> str:
    """Return a text, or a name between backticks, with what would end it escaped."""
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
