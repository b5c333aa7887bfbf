"""DuckDB database files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.tables import duckdb as duckdb_tables
from adapter_core.tables.arrow import REFUSES_WITHOUT_NOTE, arrow_of, frame_of
from adapter_core.tables.duckdb import plain_path
from adapter_core.tables.sql import misnamed, query
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

TABLE = "data"

ALONE = "SET enable_external_access = false"
"""From then on nothing in a file reaches beyond it."""


class Adapter(DataFormat):
    """A DuckDB database of one table, filled from Arrow by ``CREATE TABLE`` and read back as Arrow.

    DuckDB chooses how to store each column: bits packed, dictionaries, FSST, ALP, and Zstandard for text
    that is very long. There are checksums on everything, so damage is noticed. While a file is read,
    its views can reach neither other files nor the network.

    Datetimes with a time zone come back in UTC, categories as their values.
    """

    label = "DuckDB"
    suffix = ".duckdb"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITHOUT_NOTE | duckdb_tables.REFUSES

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        table = arrow_of(df)
        with _opened(path) as database, duckdb_tables.registered(database, table):
            database.execute(f"CREATE TABLE {TABLE} AS FROM given")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with _opened(path, read_only=True) as database:
            database.execute(f"{ALONE}; SET TimeZone = 'UTC'")
            return frame_of(database.sql(query(columns, TABLE)).to_arrow_table())

    def _column_names(self, path: Path) -> list[str]:
        with _opened(path, read_only=True) as database:
            return [row[0] for row in database.execute(f"DESCRIBE {TABLE}").fetchall()]


@contextmanager
def _opened(path: Path, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database; by a link if there is a question mark, before which DuckDB would put its log."""
    import duckdb

    if "?" not in str(path):
        with duckdb.connect(path, read_only=read_only) as database:
            yield database
        return
    with plain_path(path) as link, duckdb.connect(link, read_only=read_only) as database:
        yield database
