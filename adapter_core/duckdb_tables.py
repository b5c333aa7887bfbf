"""What DuckDB takes from Arrow and gives back, whatever the file it keeps it in."""

from __future__ import annotations

from collections.abc import Iterator
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


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[None]:
    """Let a connection know an Arrow table by the name "given"."""
    connection.register("given", table)
    try:
        yield
    finally:
        connection.unregister("given")
