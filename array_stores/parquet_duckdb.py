"""Parquet as a long table, read through DuckDB."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import NO_EXTENSION, ArrayReader, Trait
from adapter_core.arrays.duckdb_rows import description_of, values_of
from adapter_core.arrays.long_table import LongTable, LongTableReader

if TYPE_CHECKING:
    import numpy as np


class Adapter(LongTable):
    """A long table in Parquet, see `adapter_core.arrays.long_table.LongTable`, queried by DuckDB."""

    label = "Parquet[duckdb]"
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


class _Reader(LongTableReader):
    def __init__(self, path: Path) -> None:
        import duckdb

        self._connection: Any = duckdb.connect()
        self._path = glob.escape(str(path))
        super().__init__(description_of(self._connection, self._path))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _values(self, bounds: dict[str, tuple[int, int]]) -> np.ndarray:
        return values_of(self._connection, "read_parquet(?)", self._path, self.description.name, bounds)
