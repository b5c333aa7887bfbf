"""Names of columns, as databases that speak SQL take them.

What SQLite holds of a table, whatever library writes it.

SQLite has integers, floats, text and bytes. Its tables declare any types, which it keeps and mostly
ignores: https://www.sqlite.org/datatype3.html. Booleans are known by theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import pandas as pd


def quoted(name: str) -> str:
    """Return a column's name as SQL takes it, whatever is in it."""
    return '"{}"'.format(name.replace('"', '""'))


def query(columns: Sequence[str] | None, source: str) -> str:
    """Return the query for columns of a source, or for all of them if None is given."""
    wanted = "*" if columns is None else ", ".join(map(quoted, columns))
    return f"SELECT {wanted} FROM {source}"  # noqa: S608 (quoted)


def misnamed(names: Iterable[str]) -> str | None:
    """Return why a database does not take names, or changes them; None if it does neither.

    SQLite and DuckDB ignore the case of ASCII letters:
    https://duckdb.org/docs/stable/sql/dialect/keywords_and_identifiers
    """
    seen: dict[bytes, str] = {}
    for name in names:
        if not name:
            return "a column has no name"
        other = seen.setdefault(name.encode().lower(), name)
        if other != name:
            return f"the names {other!r} and {name!r} differ in case alone"
    return None


TABLE = "data"

NAMES_AND_TYPES = "SELECT name, type FROM pragma_table_info('data')"
"""The query for names and declared types of the columns."""

HEAD_BYTES = 100
LARGEST_PAGE_BYTES = 2**16
"""Which the head, with two bytes for it, notes as 1."""

MAX_COLUMNS = 2_000
"""As SQLite is built unless told otherwise: https://www.sqlite.org/limits.html#max_column"""

LARGEST_INTEGER = 2**63 - 1

_NO_TYPE = "SQLite has no type for them"

REFUSES = {
    Kind.COMPLEX: _NO_TYPE,
    Kind.TIME: _NO_TYPE,
    Kind.DECIMAL: _NO_TYPE,
    Kind.TIMEDELTA: _NO_TYPE,
    Kind.PERIOD: _NO_TYPE,
    Kind.INTERVAL: _NO_TYPE,
    Kind.SPARSE: "SQLite would fill them up",
    Kind.ARROW: "SQLite keeps no Arrow types",
    Kind.ARROW_NESTED: "SQLite keeps no Arrow types",
    Kind.CATEGORY_NOT_TEXT: "SQLite keeps no categories",
    Kind.MIXED: "SQLite would keep some of them as others",
}
"""Kinds of column that SQLite does not give back as they were, and why."""

_DECLARED = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.NULLABLE_BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "INTEGER",
    Kind.NULLABLE_INTEGER: "INTEGER",
    Kind.UNSIGNED: "INTEGER",
    Kind.NULLABLE_UNSIGNED: "INTEGER",
    Kind.FLOAT: "REAL",
    Kind.HALF_FLOAT: "REAL",
    Kind.NULLABLE_FLOAT: "REAL",
    Kind.BINARY: "BLOB",
    Kind.DATE: "DATE",
    Kind.DATETIME: "TIMESTAMP",
    Kind.ZONED_DATETIME: "TIMESTAMP",
}
"""Declared types, as pandas chooses them, but for booleans."""


def declared_types(df: pd.DataFrame) -> dict[str, str]:
    """Return the type to declare for each column, by name."""
    return {
        name: _DECLARED.get(kind, "TEXT") for name, kind in zip(df.columns, kinds_of(df), strict=True)
    }


def creation(df: pd.DataFrame) -> str:
    """Return the statement that makes the table, without its rows."""
    columns = (f"{quoted(name)} {declared}" for name, declared in declared_types(df).items())
    return f"CREATE TABLE {TABLE} ({', '.join(columns)})"


def check_whole(path: Path) -> None:
    """Raise ValueError if a file is shorter than its head says, which SQLite does not always notice.

    https://www.sqlite.org/fileformat.html#the_database_header
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    page_bytes, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    noted = pages * (LARGEST_PAGE_BYTES if page_bytes == 1 else page_bytes)
    if len(head) < HEAD_BYTES or path.stat().st_size < noted:
        raise ValueError(f"{path.name} is cut short: it should have {noted:,} bytes")


def unsupported_reason(df: pd.DataFrame) -> str | None:
    """Return why SQLite cannot hold the names or values of a table; None if it can."""
    if len(df.columns) > MAX_COLUMNS:
        return f"{len(df.columns):,} columns do not fit in {MAX_COLUMNS:,}"
    return misnamed(df.columns) or _unfit_numbers(df)


def _unfit_numbers(df: pd.DataFrame) -> str | None:
    import numpy as np

    for position, kind in enumerate(kinds_of(df)):
        name = df.columns[position]
        if kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED):
            if (df.iloc[:, position].dropna() > LARGEST_INTEGER).any():
                return f"column {name!r} contains integers beyond 2**63 - 1"
        elif kind in (Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT):
            values = df.iloc[:, position].dropna().to_numpy()
            if (np.signbit(values) & (values == 0)).any():
                return f"column {name!r} contains -0.0, which SQLite keeps as 0.0"
    return None
