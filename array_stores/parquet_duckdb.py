"""Parquet as a long table, read through DuckDB."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.arrays.long_table import LongTable, LongTableReader

if TYPE_CHECKING:
    import numpy as np


class Adapter(LongTable):
    """A long table in Parquet, see `adapter_core.arrays.long_table.LongTable`, queried by DuckDB."""

    label = "Parquet[duckdb]"
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
        # parquet_kv_metadata escapes what is not ASCII, which JSON from Description never contains.
        query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = ?::BLOB"
        self._path = glob.escape(str(path))
        ((text,),) = self._connection.execute(query, [self._path, KEY]).fetchall()
        super().__init__(Description.from_json(text))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _values(self, bounds: dict[str, tuple[int, int]]) -> np.ndarray:
        import numpy as np

        conditions = [f"{_quoted(dim)} BETWEEN {a} AND {b}" for dim, (a, b) in bounds.items()]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        query = f"SELECT {_quoted(self.description.name)} AS found FROM read_parquet(?){where}"  # noqa: S608
        values: Any = self._connection.execute(query, [self._path]).fetchnumpy()["found"]
        return values.data if isinstance(values, np.ma.MaskedArray) else values


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
