"""What readers of files that come as Arrow batches have in common: samples, and proof of validity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.labels import refuse_duplicates
from data_generator.readers._memory import check_fits
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


SAMPLING_BYTES = 16
"""What it takes for each row to draw a sample: a random word and a row number."""


@dataclass(frozen=True)
class Notes:
    """What a file says of itself."""

    schema: pa.Schema
    rows: int | None
    """None if it does not say."""
    size_bytes: int = 0
    """Of all columns, not compressed; 0 if it does not say."""


class ArrowReader(TableReader):
    """Reads files batch by batch, so that of a sample only the rows in it are kept."""

    @abstractmethod
    def _notes(self, path: Path) -> Notes:
        """Return what the file says of itself; whatever is raised counts as damage of the file."""

    @abstractmethod
    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in their order; whatever is raised counts as damage of the file."""

    def read(self, request: Request) -> pd.DataFrame:
        """Return the table, or the sample of its rows."""
        import pyarrow as pa

        with self.guard(request):
            notes = self._notes(request.path)
            names = notes.schema.names
        refuse_duplicates(request.path, names)
        check_fits(request.path, SAMPLING_BYTES * (notes.rows or 0))
        chosen = None if notes.rows is None else request.sampled_rows(notes.rows)
        if chosen is None:
            check_fits(request.path, notes.size_bytes)
        kept = list(_chosen(self._valid_batches(request, notes), chosen))
        with self.guard(request):
            return to_pandas(pa.Table.from_batches(kept, notes.schema))

    def _valid_batches(self, request: Request, notes: Notes) -> Iterator[pa.RecordBatch]:
        """Yield the batches; offsets that point outside of them would crash whoever follows them."""
        rows = 0
        with self.guard(request):
            for batch in self._batches(request.path):
                batch.validate(full=True)
                rows += len(batch)
                yield batch
        if notes.rows not in (None, rows):
            raise InvalidDataError(
                request.path, f"is damaged: it notes {notes.rows:,} rows and holds {rows:,}"
            )


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table with each column in one piece, as the generated ones are.

    pandas keeps text in the pieces that it comes in, and whatever it does later takes longer for many.
    """
    return table.combine_chunks().to_pandas()


def _chosen(batches: Iterator[pa.RecordBatch], rows: np.ndarray | None) -> Iterator[pa.RecordBatch]:
    """Yield of the batches only the rows of these numbers, which ascend."""
    import numpy as np

    start = 0
    for batch in batches:
        if rows is None:
            yield batch
            continue
        first, last = np.searchsorted(rows, (start, start + len(batch)))
        yield batch.take(rows[first:last] - start)
        start += len(batch)
