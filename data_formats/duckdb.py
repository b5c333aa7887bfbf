"""DuckDB database files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Changeable, Given, Snippet, Streams, Trait, Tunable
from adapter_core.file_facts import FileFacts
from adapter_core.files import plain_path
from adapter_core.tables.arrow import REFUSES_WITHOUT_METADATA, arrow_of, frame_of
from adapter_core.tables.duckdb import REFUSES, DuckDBTable, create_table, registered
from adapter_core.tables.sql import query, quoted

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

TABLE = "data"

# Views in a file may name other files and addresses.
_NO_ACCESS = "SET enable_external_access = false"


class Adapter(DuckDBTable, Streams, Tunable, Changeable):
    """A DuckDB database of one table, filled from Arrow by ``CREATE TABLE`` and read back as Arrow.

    DuckDB chooses the encoding of each column: bit-packing, dictionaries, FSST, ALP, and Zstandard for
    very long text. Checksums cover everything, hence damage is noticed. While a file is read, its views
    can reach neither other files nor the network.

    Datetimes with a time zone come back in UTC, categories as their values.
    """

    label = "DuckDB"
    suffix = ".duckdb"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    refuses: ClassVar = REFUSES_WITHOUT_METADATA | REFUSES
    tuned_indexes = "an ART index of each lookup column, besides DuckDB's own zone maps"
    file_facts = FileFacts(version="999", threads="all cores")
    snippet = Snippet(
        imports="import duckdb",
        write="""
            with duckdb.connect({path}) as database:
                database.register("given", table)
                database.execute("CREATE TABLE data AS FROM given")
        """,
        read="""
            with duckdb.connect({path}, read_only=True) as database:
                database.execute("SET TimeZone = 'UTC'")
                table = database.sql("SELECT * FROM data").to_arrow_table()
        """,
        given=Given.TABLE,
        changes={"category": "str"},
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        table = arrow_of(df)
        with _created(path) as database, registered(database, table):
            database.execute(f"CREATE TABLE {TABLE} AS FROM given")

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        self._save(df, path)
        with _opened(path) as database:
            for number, name in enumerate(lookups):
                database.execute(f"CREATE INDEX index_{number} ON {TABLE} ({quoted(name)})")

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with _created(path) as database:
            create_table(database, TABLE, map(arrow_of, batches))

    def _count_rows(self, path: Path) -> int:
        with self._scanned(path) as table:
            return table.count("*").fetchall()[0][0]

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        with _opened(path) as database, registered(database, arrow_of(df)):
            database.execute(f"INSERT INTO {TABLE} FROM given")

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        names = [quoted(name) for name in df.columns if name != key]
        values = ", ".join(f"{name} = given.{name}" for name in names)
        same = f"{TABLE}.{quoted(key)} = given.{quoted(key)}"
        with _opened(path) as database, registered(database, arrow_of(df)):
            database.execute(f"UPDATE {TABLE} SET {values} FROM given WHERE {same}")  # noqa: S608 (quoted)

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        import pyarrow as pa

        with _opened(path) as database, registered(database, pa.table({"key": values})):
            database.execute(f"DELETE FROM {TABLE} WHERE {quoted(key)} IN (SELECT key FROM given)")  # noqa: S608 (quoted)

    def _add_column(self, path: Path, name: str) -> None:
        with _opened(path) as database:
            database.execute(f"ALTER TABLE {TABLE} ADD COLUMN {quoted(name)} DOUBLE")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with _opened(path, read_only=True) as database:
            database.execute(f"{_NO_ACCESS}; SET TimeZone = 'UTC'")
            return frame_of(database.sql(query(columns, TABLE)).to_arrow_table())

    def _column_names(self, path: Path) -> list[str]:
        with _opened(path, read_only=True) as database:
            return [row[0] for row in database.execute(f"DESCRIBE {TABLE}").fetchall()]

    @contextmanager
    def _scanned(self, path: Path) -> Iterator[duckdb.DuckDBPyRelation]:
        with _opened(path, read_only=True) as database:
            database.execute(f"{_NO_ACCESS}; SET TimeZone = 'UTC'")
            yield database.table(TABLE)


@contextmanager
def _created(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a new database; if it cannot be written, remove the log that DuckDB leaves beside it."""
    try:
        with _opened(path) as database:
            yield database
    except BaseException:
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
        raise


@contextmanager
def _opened(path: Path, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    with plain_path(path) as found, duckdb.connect(found, read_only=read_only) as database:
        yield database
        if not read_only:
            # Closing does it too, but hides that the disk is full, and leaves the rows in a log.
            database.execute("CHECKPOINT")
