"""Reader of DuckDB databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.foreign_parts import check_beside
from data_generator.readers._arrow import to_pandas
from data_generator.readers._reader import ReadRequest, TableReader, check_columns, check_fits

if TYPE_CHECKING:
    import pandas as pd

# By default DuckDB would write what does not fit in memory to a folder beside the user's file, and would
# download an extension that a database needs, which is a library with any code.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
# Set afterwards, since the first one fixes the temporary directory.
DEFENCES = ("SET enable_external_access = false", "SET lock_configuration = true")

# Arrow has no type for them, and gets other values: of 12:00:00+02, 12:00:00.
REFUSED = frozenset(("bignum", "bit", "time with time zone", "uhugeint", "union"))

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
        check_beside(request.path, ".wal")
        with self.guard(request), opened(request) as database:
            places = database.sql(TABLES).fetchall()
        tables = {
            name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in places
        }
        chosen = tables[request.only(list(tables), "table")]
        quoted = ".".join('"{}"'.format(part.replace('"', '""')) for part in chosen)
        with self.guard(request), opened(request) as database:
            ((rows,),) = database.sql(f"SELECT count(*) FROM {quoted}").fetchall()  # noqa: S608 (quoted)
            table = database.sql(f"SELECT * FROM {quoted}")  # noqa: S608 (quoted)
            check_columns(request.path, len(table.columns))
            for name, kind in zip(table.columns, table.types, strict=True):
                if kind.id in REFUSED:
                    problem = f"has a column {name!r} of {kind}, which Arrow has no type for"
                    raise InvalidDataError(request.path, problem, "cast it, or leave it out")
            check_fits(request.path, rows * len(table.columns))
            return to_pandas(table.to_arrow_table())


@contextmanager
def opened(request: ReadRequest) -> Iterator[Any]:
    """Open a database for reading."""
    import duckdb

    with duckdb.connect(request.path, read_only=True, config=CONFIG) as database:
        for defence in DEFENCES:
            database.execute(defence)
        yield database
