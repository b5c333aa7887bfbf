"""Parquet files of a table: partitions that a log of the format lists, and their codec."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from adapter_core import DataFormat, PartitionedTable, Piece, RemoteFile
from adapter_core.tables.arrow import arrow_of, frame_of, positions, retyped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd
    import pyarrow as pa


class ParquetFiles(PartitionedTable):
    """A table whose partitions are written first, and then added to its log at once.

    The names in `Piece` are paths relative to the table's; its facts have the schema, and the time
    of writing in milliseconds since 1970.

    Parameters
    ----------
    place : Path or RemoteFile
        Folder of the table, on a file system or in an object store.
    adapter : DataFormat
        Checks the rows of each partition.
    type_of : callable
        Returns the type of Arrow that the format has for another.
    below : str
        The directory of the files, relative to the table's.
    """

    def __init__(
        self,
        place: Path | RemoteFile,
        adapter: DataFormat,
        type_of: Callable[[pa.DataType], pa.DataType],
        below: str = "",
    ) -> None:
        super().__init__(place, adapter)
        self._type_of, self._below = type_of, below

    def write(self, number: int, df: pd.DataFrame) -> Piece:
        """Write one uncompressed file; see `PartitionedTable.write`."""
        if self.adapter.checks_saves:
            self.adapter.check(df)
        table = retyped(arrow_of(df), self._type_of).replace_schema_metadata(None)
        name = str(PurePosixPath(self._below, f"part-{number:05}.parquet"))
        size = self.folder.write_parquet(name, table)
        facts = {"schema": table.schema, "written": time.time_ns() // 10**6}
        return Piece(number, name, len(df), size, facts)

    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read one file; see `PartitionedTable.read`."""
        import pyarrow.parquet as pq

        path, system = self.folder.arrow(piece.name)
        if columns is not None:
            positions(pq.read_schema(path, filesystem=system), columns)
        table = pq.read_table(path, columns=columns, partitioning=None, filesystem=system)
        return frame_of(table if columns is None else table.select(columns))

    def count(self, piece: Piece) -> int:
        """Return the number of rows in the footer of a file."""
        import pyarrow.parquet as pq

        path, system = self.folder.arrow(piece.name)
        return pq.read_metadata(path, filesystem=system).num_rows


def codec_of_files(files: Iterable[Path]) -> str | None:
    """Return the codec of the first compressed column chunk of Parquet files, None if there is none."""
    import pyarrow.parquet as pq

    for metadata in map(pq.read_metadata, files):
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                if column.compression != "UNCOMPRESSED":
                    return str(column.compression).lower()
    return None
