"""chDB, ClickHouse in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.database import SQLEngine
from adapter_core.query import TABLE

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

# Without them later answers come from what earlier ones have left in memory.
_SETTINGS = {
    "use_cache_for_count_from_files": 0,
    "schema_inference_use_cache_for_file": 0,
    "output_format_arrow_string_as_string": 1,
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

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "it gives no numbers to rows" if query.positions else ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:
        import chdb

        connection = chdb.connect(":memory:")
        for name, value in _SETTINGS.items():
            connection.query(f"SET {name} = {value}")
        for name, path in tables.items():
            where = str(path.absolute()).replace("\\", "\\\\").replace("'", "\\'")
            source = f"file('{where}', '{_FORMATS[format_label]}')"
            connection.query(f"CREATE VIEW {name} AS SELECT * FROM {source}")  # noqa: S608 (a path)
        return connection

    def close(self, handle: Any) -> None:
        handle.close()

    def _execute(self, handle: Any, statement: str) -> pa.Table:
        import pyarrow as pa

        found = handle.query(statement, "Arrow").bytes()
        return pa.ipc.open_file(pa.py_buffer(found)).read_all()

    def _width(self, handle: Any) -> int:
        return self._execute(handle, f"DESCRIBE {TABLE}").num_rows
