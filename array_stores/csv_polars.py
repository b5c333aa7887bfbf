"""CSV as a table of coordinates and values, read through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.arrays.csv_table import VALUES_FILE, CSVTable, CSVTableReader
from adapter_core.arrays.polars_rows import values_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader


class Adapter(CSVTable):
    """A table in CSV, see `adapter_core.arrays.csv_table.CSVTable`, scanned by Polars."""

    label = "CSV[polars]"
    requires = ("numpy", "pyarrow", "polars")
    suite = "foxbench"

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Parse the whole file."""
        import polars as pl

        return len(pl.scan_csv(path / VALUES_FILE, glob=False).collect())


class _Reader(CSVTableReader):
    def __init__(self, path: Path) -> None:
        import polars as pl

        super().__init__(path)
        schema = pl.DataFrame(self.schema.empty_table()).schema
        self._table = pl.scan_csv(path / VALUES_FILE, schema=schema, glob=False)

    def _values(self, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
        return values_of(self._table, self.description.name, bounds)
