"""Tables in partitions that are Parquet files, which a log of the format lists."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from adapter_core.files import write_atomically
from adapter_core.partitioned import PartitionedTable, Piece
from adapter_core.tables.arrow import arrow_of, frame_of, positions, retyped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from adapter_core.data_format import DataFormat


class ParquetFiles(PartitionedTable):
    """A table whose partitions are written first, and then added to its log at once.

    The names in `Piece` are paths relative to that of the table.

    Parameters
    ----------
    path : pathlib.Path
        The directory of the table.
    adapter : DataFormat
        Checks the rows of each partition.
    type_of : callable
        Returns the type of Arrow that the format has for another.
    folder : str
        The directory of the files in that of the table.
    """

    def __init__(
        self,
        path: Path,
        adapter: DataFormat,
        type_of: Callable[[pa.DataType], pa.DataType],
        folder: str = "",
    ) -> None:
        super().__init__(path)
        self._adapter, self._type_of, self._folder = adapter, type_of, folder

    def create(self) -> None:
        """Make the directories; see `PartitionedTable.create`."""
        super().create()
        (self.path / self._folder).mkdir(exist_ok=True)

    def write(self, number: int, df: pd.DataFrame) -> Piece:
        """Write one uncompressed file; see `PartitionedTable.write`."""
        import pyarrow.parquet as pq

        self._adapter.check(df)
        table = retyped(arrow_of(df), self._type_of).replace_schema_metadata(None)
        name = str(PurePosixPath(self._folder, f"part-{number:05}.parquet"))
        with write_atomically(self.path / name) as temporary:
            pq.write_table(table, temporary, compression="none")
        size = (self.path / name).stat().st_size
        return Piece(number, name, len(df), size, {"schema": table.schema})

    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read one file; see `PartitionedTable.read`."""
        import pyarrow.parquet as pq

        file = self.path / piece.name
        if columns is not None:
            positions(pq.read_schema(file), columns)
        table = pq.read_table(file, columns=columns, partitioning=None)
        return frame_of(table if columns is None else table.select(columns))

    def count(self, piece: Piece) -> int:
        """Return the number of rows in the footer of a file."""
        import pyarrow.parquet as pq

        return pq.read_metadata(self.path / piece.name).num_rows
