"""What DuckDB takes from Arrow and gives back, whatever the file it keeps it in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

REFUSES = {
    Kind.HALF_FLOAT: "DuckDB has none",
    Kind.TIMEDELTA: "DuckDB's interval counts months, days and microseconds",
}
"""Kinds of column that DuckDB does not give back as they were, and why."""


def misnamed(names: Iterable[str]) -> str | None:
    """Return why DuckDB would give columns other names; None if it does not.

    https://duckdb.org/docs/stable/sql/dialect/keywords_and_identifiers
    """
    seen: dict[str, str] = {}
    for name in names:
        if not name:
            return "a column has no name, and DuckDB would give it one"
        if name.lower() in seen:
            other = seen[name.lower()]
            return f"the names {other!r} and {name!r} differ in case alone, which DuckDB ignores"
        seen[name.lower()] = name
    return None


def selected(columns: Sequence[str] | None) -> str:
    """Return what to SELECT, which is all columns if None is given."""
    if columns is None:
        return "*"
    return ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[None]:
    """Let a connection know an Arrow table by the name "given"."""
    connection.register("given", table)
    try:
        yield
    finally:
        connection.unregister("given")
