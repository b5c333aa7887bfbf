"""SQL names and queries, and the table of an SQLite database.

SQLite has integers, floats, text and bytes. Tables may declare any types, which it stores and mostly
ignores: https://www.sqlite.org/datatype3.html. Booleans are recognised by their declared type.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    ColumnSums,
    Kind,
    PartialReads,
    Predicate,
    Trait,
    Tunable,
    UnknownNameError,
)
from adapter_core.column_batches import needed_columns
from adapter_core.errors import InvalidSelectionError
from adapter_core.kinds import kinds_of
from adapter_core.predicate import BOOLEANS, NUMBERS, TEXT
from adapter_core.remote_adapter import IN_PLACE
from adapter_core.values import integers_beyond_int64, with_minus_zero

if TYPE_CHECKING:
    import pandas as pd


def quoted(name: str) -> str:
    """Return any name as an identifier of SQL."""
    return '"{}"'.format(name.replace('"', '""'))


def query(columns: Sequence[str] | None, source: str) -> str:
    """Return the query for some columns of a source, or for all if None."""
    wanted = "*" if columns is None else ", ".join(map(quoted, columns))
    return f"SELECT {wanted} FROM {source}"  # noqa: S608 (quoted)


def condition(predicate: Predicate) -> str:
    """Return a predicate as a condition with a question mark for each constant."""
    return " AND ".join(
        f"{quoted(each.column)} {each.operator.replace('==', '=')} ?" for each in predicate.comparisons
    )


def misnamed(names: Iterable[str]) -> str | None:
    """Return the reason why a database refuses or changes column names; None if it does neither.

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
"""Query for the names and declared types of the columns."""

MAX_COLUMNS = 2_000
"""Default of SQLite's builds: https://www.sqlite.org/limits.html#max_column"""

# https://www.sqlite.org/fileformat.html#the_database_header; a page size of 1 stands for 65,536.
_HEADER_BYTES = 100
_LARGEST_PAGE_BYTES = 2**16

_NO_TYPE = "SQLite has no type for them"

REFUSES = {
    Kind.COMPLEX: _NO_TYPE,
    Kind.TIME: _NO_TYPE,
    Kind.DECIMAL: _NO_TYPE,
    Kind.WIDE_DECIMAL: _NO_TYPE,
    Kind.TIMEDELTA: _NO_TYPE,
    Kind.PERIOD: _NO_TYPE,
    Kind.INTERVAL: _NO_TYPE,
    Kind.SPARSE: "SQLite would fill them up",
    Kind.ARROW: "SQLite keeps no Arrow types",
    Kind.NESTED: _NO_TYPE,
    Kind.CATEGORY_NOT_TEXT: "SQLite keeps no categories",
    Kind.MIXED: "SQLite would keep some of them as others",
}
"""Kinds of column that SQLite cannot store, with the reasons."""

# Declared types, as pandas declares them except for booleans.
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


_NUMBERS = {"BOOLEAN", "INTEGER", "REAL"}

# Contents of columns for `Comparison.fitted`, by declared types; all others are text.
_CONTENTS = {"BOOLEAN": BOOLEANS, "INTEGER": NUMBERS, "REAL": NUMBERS, "BLOB": "bytes"}

# Names of SQLite's own row numbers, which start at 1; a column may take one of them.
_ROW_NUMBERS = "rowid", "_rowid_", "oid"


class SQLiteTable(PartialReads, Tunable):
    """An SQLite database of one table."""

    local_only = IN_PLACE
    suffix = ".sqlite"
    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    refuses: ClassVar = REFUSES
    # Without rowids, rows by number would need a count of those before them.
    tuned_indexes = "an index of each sort key and lookup column; ANALYZE"

    def recover(self, path: Path) -> bool:
        """Let SQLite undo an unfinished transaction, for which it opens the file for writing."""
        with closing(sqlite3.connect(path)) as database:
            database.execute("SELECT name FROM sqlite_master").fetchall()
        return True

    def _check_values(self, df: pd.DataFrame) -> None:
        if len(df.columns) > MAX_COLUMNS:
            raise self.refusal(f"{len(df.columns):,} columns do not fit in {MAX_COLUMNS:,}")
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)
        self._refuse_column(integers_beyond_int64(df), "integers beyond 2**63 - 1")
        self._refuse_column(with_minus_zero(df), "-0.0, which SQLite keeps as 0.0")

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        self._save(df, path)
        with closing(sqlite3.connect(path)) as database, database:
            for number, name in enumerate([*sort_by, *lookups]):
                database.execute(f"CREATE INDEX index_{number} ON {TABLE} ({quoted(name)})")
            database.execute("ANALYZE")


def declared_types(df: pd.DataFrame) -> dict[str, str]:
    """Return the type to declare for each column, by name."""
    return {
        name: _DECLARED.get(kind, "TEXT") for name, kind in zip(df.columns, kinds_of(df), strict=True)
    }


def sums_in_sql(
    cursor: Any, columns: Sequence[str], where: Predicate | None, declared: Mapping[str, str]
) -> ColumnSums:
    """Return the sums of some columns over the rows that pass a predicate; SQLite leaves out nulls.

    Parameters
    ----------
    cursor : cursor of Python's database interface
        A cursor of the database.
    columns : sequence of str
        The columns to add up.
    where : Predicate or None
        The condition; None for all rows.
    declared : mapping
        Result of `NAMES_AND_TYPES`.

    Raises
    ------
    UnknownNameError
        If a named column is missing, which SQLite would take for text.
    InvalidSelectionError
        If a column does not consist of numbers.
    """
    for name in needed_columns(columns, where):
        if name not in declared:
            raise UnknownNameError("column", name, declared)
        if declared[name] not in _NUMBERS:
            raise InvalidSelectionError(f"column {name!r} contains {declared[name]}, not numbers")
    # Not by `sum`, which fails where integers overflow.
    sums = ", ".join(f"total({quoted(name)})" for name in columns)
    text = f"SELECT count(*), {sums} FROM {TABLE}"  # noqa: S608 (quoted)
    if where is None:
        cursor.execute(text)
    else:
        constants = [each.value for each in where.comparisons]
        cursor.execute(f"{text} WHERE {condition(where)}", constants)
    rows, *found = cursor.fetchone()
    return ColumnSums(rows, dict(zip(columns, found, strict=True)))


def creation(df: pd.DataFrame) -> str:
    """Return the statement that creates the table, without its rows."""
    columns = (f"{quoted(name)} {declared}" for name, declared in declared_types(df).items())
    return f"CREATE TABLE {TABLE} ({', '.join(columns)})"


def row_number(names: Iterable[str]) -> str | None:
    """Return the name of SQLite's row numbers that no column has; None if columns have all."""
    taken = {name.lower() for name in names}
    return next((each for each in _ROW_NUMBERS if each not in taken), None)


def row_range(names: Iterable[str], start: int, stop: int | None, *, has_gaps: bool = False) -> str:
    """Return the clause for the rows from `start` to before `stop`, or to the end if None.

    Parameters
    ----------
    names : iterable of str
        The names of all columns.
    start, stop : int
        Numbers of rows, from 0.
    has_gaps : bool
        Whether rows have been removed, so that SQLite's numbers are no positions.
    """
    number = None if has_gaps else row_number(names)
    if number is None:
        return f"LIMIT {-1 if stop is None else stop - start} OFFSET {start}"
    return f"WHERE {number} > {start}" + ("" if stop is None else f" AND {number} <= {stop}")


def fitted_to_declared(predicate: Predicate, declared: Mapping[str, str]) -> Predicate:
    """Return a predicate, whose columns exist, after a check against their declared types.

    Raises
    ------
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """
    return predicate.fitted(lambda each: each.fitted(_CONTENTS.get(declared[each.column], TEXT)))


def counts(cursor: Any, columns: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Return the number of rows, and of values that are not null in each of some columns."""
    totals = ", ".join(["count(*)", *(f"count({quoted(name)})" for name in columns)])
    rows, *found = cursor.execute(f"SELECT {totals} FROM {TABLE}").fetchone()  # noqa: S608 (quoted)
    return rows, dict(zip(columns, found, strict=True))


def check_whole(path: Path) -> None:
    """Raise ValueError if a file is shorter than its header requires; SQLite does not always notice.

    https://www.sqlite.org/fileformat.html#the_database_header
    """
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    page_bytes, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
    # The header has two bytes for the size of a page, and 1 means the largest.
    expected = pages * (_LARGEST_PAGE_BYTES if page_bytes == 1 else page_bytes)
    if len(header) < _HEADER_BYTES or path.stat().st_size < expected:
        raise ValueError(f"{path.name} is cut short: it should have {expected:,} bytes")
