"""Reader of SQLite databases, through the standard library."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.foreign_parts import check_beside
from data_generator.readers._reader import ReadRequest, TableReader
from data_generator.readers._values import typed

if TYPE_CHECKING:
    import pandas as pd

# Neither views nor virtual tables, which run code that the file chooses.
TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
    "AND name IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table')"
)

# https://www.sqlite.org/security.html#untrusted_sqlite_database_files
DEFENCES = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA query_only = ON",
)

# Time to wait for the lock of another program.
SECONDS_TO_WAIT = 1.0

# https://www.sqlite.org/fileformat.html#the_database_header
HEAD_BYTES = 100
# Offset and value of the byte that indicates a write-ahead log.
READ_VERSION, WITH_LOG = 19, 2
# Page size that the two bytes of the header represent as 1.
LARGEST_PAGE_BYTES = 2**16


class SQLiteReader(TableReader):
    """Reader of one table, in the order of its row numbers; columns have the types of their values."""

    kind = "SQLite"
    endings = (".sqlite", ".sqlite3", ".db", ".db3")
    signatures = ((0, b"SQLite format 3\0"),)
    has_several_tables = True

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the only table, or the named one."""
        import pandas as pd

        check_beside(request.path, "-wal", "-journal")
        address = _address(request.path)
        with self.guard(request), closing(connected(address)) as database:
            tables = [name for (name,) in database.execute(TABLES)]
        table = request.only(tables, "table")
        quoted = table.replace('"', '""')
        with self.guard(request), closing(connected(address)) as database:
            rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (quoted)
            names = [column for column, *_ in rows.description]
            return typed(pd.DataFrame(rows.fetchall(), columns=names, dtype=object))


def _address(path: Path) -> str:
    """Return a URI that opens a database without writing anything, not even beside it."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    _check_size(path, head)
    address = f"{path.as_uri()}?mode=ro"
    log = path.with_name(f"{path.name}-wal")
    # SQLite uses a log that is there, whatever the header states.
    if head[READ_VERSION] != WITH_LOG and not log.exists():
        return address
    if log.exists() and log.stat().st_size:
        advice = "end the program that writes to it, or run PRAGMA wal_checkpoint(TRUNCATE)"
        raise InvalidDataError(path, f"has changes that are in {log.name} alone", advice)
    # Without immutable, SQLite creates two files beside a database with a write-ahead log:
    # https://www.sqlite.org/wal.html#read_only_databases
    return f"{address}&immutable=1"


def _check_size(path: Path, head: bytes) -> None:
    """Refuse a database that is shorter than its header states."""
    # SQLite itself fails only when it needs a missing page.
    page_bytes, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    # Old versions of SQLite do not maintain the number of pages: it is valid if "version-valid-for"
    # equals the file change counter.
    is_counted = len(head) == HEAD_BYTES and head[24:28] == head[92:96]
    expected = (
        pages * (page_bytes if page_bytes > 1 else LARGEST_PAGE_BYTES) if is_counted else HEAD_BYTES
    )
    if path.stat().st_size < expected:
        raise InvalidDataError(path, f"is cut: it has {path.stat().st_size:,} of {expected:,} bytes")


def connected(address: str) -> sqlite3.Connection:
    """Return a connection to a database that may be meant to do harm."""
    database = sqlite3.connect(address, uri=True, timeout=SECONDS_TO_WAIT)
    try:
        for defence in DEFENCES:
            database.execute(defence)
    except BaseException:
        database.close()
        raise
    return database
