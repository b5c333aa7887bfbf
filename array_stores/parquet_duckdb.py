"""Parquet as a long table, read through DuckDB."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import ClassVar

from adapter_core import NO_EXTENSION, ArrayReader, Trait
from adapter_core.arrays.duckdb_rows import ParquetRows
from adapter_core.arrays.long_table import LongTable, LongTableReader


class Adapter(LongTable):
    """A long table in Parquet, see `adapter_core.arrays.long_table.LongTable`, queried by DuckDB."""

    label = "Parquet[duckdb]"
    overridden_default = "codec"
    local_only = NO_EXTENSION
    requires = ("numpy", "pyarrow", "duckdb")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Query the rows of each index along the first dimension."""
        import duckdb

        with duckdb.connect() as connection:
            table = connection.read_parquet(glob.escape(str(path)))
            first, *_, values = table.columns
            ((last,),) = table.max(first).fetchall()
            for row in range(last + 1):
                table.filter(f'"{first}" = {row}').select(f'"{values}"').fetchnumpy()
            return int(last) + 1


class _Reader(ParquetRows, LongTableReader):
    """Rows by indexes."""
