"""Tables in partitions that are Parquet files, which a log of the format lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.partitioned import PartitionedTable
from adapter_core.tables.arrow import frame_of, positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from adapter_core.partitioned import Piece


class ParquetFiles(PartitionedTable):
    """Reads of single partitions, whose names in `Piece` are paths relative to that of the table."""

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
