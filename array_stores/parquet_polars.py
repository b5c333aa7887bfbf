"""Parquet as a long table, read through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, ArrayReader, RemoteArray, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.arrays.long_table import LongTable, LongTableReader
from adapter_core.arrays.polars_rows import values_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import RemoteFile


class Adapter(LongTable, RemoteArray):
    """A long table in Parquet, see `adapter_core.arrays.long_table.LongTable`, scanned by Polars."""

    label = "Parquet[polars]"
    overridden_default = "codec"
    requires = ("numpy", "pyarrow", "polars")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    remote_schemes: ClassVar = OBJECT_STORES

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        return _Reader(file.url, **file.polars_options())

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read the rows of each index along the first dimension."""
        import polars as pl

        table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        first, *_, values = table.collect_schema().names()
        count = table.select(pl.col(first).max()).collect().item() + 1
        for row in range(count):
            table.filter(pl.col(first) == row).select(values).collect()
        return count


class _Reader(LongTableReader):
    def __init__(self, place: Path | str, **options: Any) -> None:
        import polars as pl

        super().__init__(Description.from_json(pl.read_parquet_metadata(place, **options)[KEY]))
        self._table = pl.scan_parquet(place, glob=False, hive_partitioning=False, **options)

    def _values(self, bounds: dict[str, tuple[int, int]]) -> np.ndarray:
        return values_of(self._table, self.description.name, bounds)
