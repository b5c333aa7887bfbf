"""Parquet through DuckDB."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.tables import duckdb as duckdb_tables
from adapter_core.tables.arrow import REFUSES_WITH_NOTE, arrow_of, frame_of, note_of
from adapter_core.tables.sql import misnamed, query
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd

_SAVE = "COPY given TO ? (FORMAT parquet, COMPRESSION uncompressed, KV_METADATA {pandas: ?})"
_FILE = "read_parquet(?, hive_partitioning = false)"
_NOTE = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'pandas'"


class Adapter(DataFormat):
    """Apache Parquet through DuckDB's ``COPY`` and ``read_parquet``.

    Tables go to DuckDB and come back as Arrow, which is faster than as pandas' own. The file holds
    pandas' note of the dtypes, so that pandas, too, reads it with them. DuckDB's database is the one of
    the process, in memory: another one would take longer to begin than a small table to read. Files of
    DuckDB hold no negative intervals, nor nanoseconds in them. Categories come back as their values.
    """

    label = "Parquet[duckdb]"
    suffix = ".parquet"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITH_NOTE | duckdb_tables.REFUSES

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        table = arrow_of(df)
        with duckdb.cursor() as cursor, duckdb_tables.registered(cursor, table):
            cursor.execute(_SAVE, [str(path), note_of(table)])

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import duckdb

        place = [glob.escape(str(path))]
        with duckdb.cursor() as cursor:
            cursor.execute("SET TimeZone = 'UTC'")
            table = cursor.sql(query(columns, _FILE), params=place).to_arrow_table()
            note = cursor.execute(_NOTE, place).fetchone()
        return frame_of(table, note[0].decode() if note else None)

    def _column_names(self, path: Path) -> list[str]:
        import duckdb

        with duckdb.cursor() as cursor:
            rows = cursor.execute(f"DESCRIBE FROM {_FILE}", [glob.escape(str(path))]).fetchall()
        return [row[0] for row in rows]
