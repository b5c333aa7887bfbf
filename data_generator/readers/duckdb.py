"""Reader of DuckDB databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from data_generator.readers._arrow import to_pandas
from data_generator.readers._reader import ReadRequest, TableReader

if TYPE_CHECKING:
    import pandas as pd

TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"


class DuckDBReader(TableReader):
    """Reader of one table, with its rows in the order of their insertion."""

    kind = "DuckDB"
    endings = (".duckdb", ".ddb", ".db")
    signatures = ((8, b"DUCK"),)
    requires = ("duckdb",)
    has_several_tables = True

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the only table, or the named one."""
        with self.guard(request), _opened(request) as database:
            places = database.sql(TABLES).fetchall()
        tables = {
            name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in places
        }
        chosen = tables[request.only(list(tables), "table")]
        quoted = ".".join('"{}"'.format(part.replace('"', '""')) for part in chosen)
        with self.guard(request), _opened(request) as database:
            table = database.sql(f"SELECT * FROM {quoted}").to_arrow_table()  # noqa: S608 (quoted)
            return to_pandas(table)


@contextmanager
def _opened(request: ReadRequest) -> Iterator[Any]:
    """Open a database for reading."""
    import duckdb

    # By default DuckDB would write what does not fit in memory to a folder beside the user's file.
    with duckdb.connect(request.path, read_only=True, config={"temp_directory": ""}) as database:
        yield database
