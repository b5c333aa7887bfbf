"""CSV as a table of coordinates and values, read through DuckDB."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.arrays.coordinate_table import batches, schema_of
from adapter_core.arrays.csv_table import VALUES_FILE, CSVTable, CSVTableReader
from adapter_core.arrays.duckdb_rows import columns_of, streamed, values_of
from adapter_core.remote_adapter import NO_EXTENSION

if TYPE_CHECKING:
    import os

    import numpy as np

    from adapter_core import ArrayReader, ArraySource


class Adapter(CSVTable):
    """A table in CSV, see `adapter_core.arrays.csv_table.CSVTable`, queried by DuckDB."""

    label = "CSV[duckdb]"
    local_only = NO_EXTENSION
    requires = ("numpy", "pyarrow", "polars", "duckdb")
    suite = "foxbench"

    def write_answer(
        self,
        answer: ArraySource,
        path: str | os.PathLike[str],
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write the answer to a query by DuckDB's ``COPY``."""
        path = Path(path)
        self.check(answer, codec)
        path.mkdir()
        schema = schema_of(answer, times_as_text=True)
        with streamed(batches(answer, path, times_as_text=True), schema) as connection:
            connection.execute("COPY given TO ? (FORMAT csv, HEADER)", [str(path / VALUES_FILE)])
        self._write_description(answer, path)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)


class _Reader(CSVTableReader):
    def __init__(self, path: Path) -> None:
        import duckdb

        super().__init__(path)
        self._connection: Any = duckdb.connect()
        self._path = glob.escape(str(path / VALUES_FILE))
        columns = columns_of(self.schema)
        self._table = f"read_csv(?, header = true, auto_detect = false, columns = {columns})"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _values(self, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
        return values_of(self._connection, self._table, self._path, self.description.name, bounds)
