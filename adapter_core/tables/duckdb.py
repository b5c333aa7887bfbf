"""What DuckDB takes from Arrow and gives back, whatever the file it keeps it in.

Paths for libraries that take some of their characters for patterns or parts of an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


REFUSES = {
    Kind.HALF_FLOAT: "DuckDB has no type for them",
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


@contextmanager
def plain_path(path: Path) -> Iterator[Path]:
    """Give a symbolic link to a file or directory, there or not, whose path is of plain characters."""
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        link.symlink_to(path.absolute())
        yield link
