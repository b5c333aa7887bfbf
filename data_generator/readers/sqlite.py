"""SQLite databases through the standard library and pandas."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import pandas as pd

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"

SECONDS_TO_WAIT = 1.0
"""For a lock that another program holds."""

HEAD_BYTES = 100
READ_VERSION, WITH_LOG = 19, 2
"""Offset of the byte, and its value, that tells of a write-ahead log."""

LARGEST_PAGE_BYTES = 2**16
"""Which the two bytes for it note as 1."""


class Reader(TableReader):
    """One table, in the order of its row numbers; the type of a column is that of its values."""

    what = "SQLite"
    endings = (".sqlite", ".sqlite3", ".db", ".db3")
    signatures = ((0, b"SQLite format 3\0"),)
    holds_several = True

    def read(self, request: Request) -> pd.DataFrame:
        """Return the only table, or the one that was named."""
        import pandas as pd

        address = _address(request.path)
        with self.guard(request), closing(_connect(address)) as database:
            tables = [name for (name,) in database.execute(TABLES)]
        table = request.only(tables, "table")
        quoted = table.replace('"', '""')
        with self.guard(request), closing(_connect(address)) as database:
            return pd.read_sql_query(f'SELECT * FROM "{quoted}"', database)  # noqa: S608 (quoted)


def _address(path: Path) -> str:
    """Return the URI by which a database is read and nothing is written, not even beside it.

    To read one with a write-ahead log SQLite makes two files, unless it is told that nobody writes:
    https://www.sqlite.org/wal.html#read_only_databases
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    _check_size(path, head)
    address = f"{path.as_uri()}?mode=ro"
    if head[READ_VERSION] != WITH_LOG:
        return address
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        advice = "end the program that writes to it, or run PRAGMA wal_checkpoint(TRUNCATE)"
        raise InvalidDataError(path, f"has changes that are in {log.name} alone", advice)
    return f"{address}&immutable=1"


def _check_size(path: Path, head: bytes) -> None:
    """Refuse a database that is shorter than its head says; SQLite notices only where it needs the rest.

    https://www.sqlite.org/fileformat.html#the_database_header
    """
    page_bytes, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    # Old versions did not count the pages, and do not bring the second number up to the first.
    is_counted = len(head) == HEAD_BYTES and head[24:28] == head[92:96]
    expected = (
        pages * (page_bytes if page_bytes > 1 else LARGEST_PAGE_BYTES) if is_counted else HEAD_BYTES
    )
    if path.stat().st_size < expected:
        raise InvalidDataError(path, f"is cut: it has {path.stat().st_size:,} of {expected:,} bytes")


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, timeout=SECONDS_TO_WAIT)
