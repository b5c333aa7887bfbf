"""Reads of parts of tables: some columns, a range of rows, rows that pass a predicate, batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.data_format import ColumnNames
from adapter_core.errors import InvalidSelectionError
from adapter_core.features import Feature
from adapter_core.predicate import Predicate, bounds

if TYPE_CHECKING:
    import pandas as pd

# As of pyarrow's `ParquetFile.iter_batches`.
BATCH_ROWS = 65_536
"""Default of the maximum number of rows in a batch."""


class _Parts(ColumnNames):
    """A format that reads some kind of part; each protocol below is a kind.

    A format is of a protocol only if its library reads less, or keeps less in memory, than for the whole
    table. Parts have the dtypes of the whole table, but for categories, of which they may have fewer.
    """

    def read(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        rows: slice | Predicate | None = None,
    ) -> pd.DataFrame:
        """Read a table back, or some of its columns and rows, as `DataFormat.read`."""
        path = self._existing(path)
        wanted = self._wanted(path, columns)
        if rows is None:
            df = self._read(path, wanted)
        elif isinstance(rows, Predicate):
            self._require(Feature.FILTER)
            self._check_names(path, rows.columns, once=True)
            df = self._read_where(path, wanted, rows)
        else:
            self._require(Feature.ROWS)
            df = self._read_slice(path, wanted, *bounds(rows))
        return df if wanted is None or list(df.columns) == wanted else df[wanted]

    def _wanted(self, path: Path, columns: Sequence[str] | None) -> list[str] | None:
        """Return the requested columns, which have been checked; None for all."""
        if columns is None:
            return None
        self._require(Feature.COLUMNS)
        self._check_names(path, columns)
        return list(columns)

    def _filled_batches(
        self, path: Path, columns: list[str] | None, batch_rows: int
    ) -> Iterator[pd.DataFrame]:
        return (df for df in self._batches(path, columns, batch_rows) if len(df))

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        """Read the rows from `start` to before `stop`, or to the end if None, as `_read` does.

        By default they come from `_batches`, which end with the last row's.
        """
        parts: list[pd.DataFrame] = []
        rows = 0
        for batch in self._filled_batches(path, columns, BATCH_ROWS):
            part = batch.iloc[max(0, start - rows) : None if stop is None else max(0, stop - rows)]
            rows += len(batch)
            if len(part) or not parts:
                parts.append(part)
            if stop is not None and rows >= stop:
                break
        return self._joined(path, columns, parts)

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        """Read the rows that pass a predicate, as `_read` does; its columns exist.

        By default they are the passing rows of each batch of `_batches`.
        """
        needed = None if columns is None else [*columns, *set(predicate.columns).difference(columns)]
        parts: list[pd.DataFrame] = []
        for batch in self._filled_batches(path, needed, BATCH_ROWS):
            part = batch[predicate.mask(batch)]
            if len(part) or not parts:
                parts.append(part if columns is None else part[columns])
        return self._joined(path, columns, parts)

    def _joined(self, path: Path, columns: list[str] | None, parts: list[pd.DataFrame]) -> pd.DataFrame:
        import pandas as pd

        if not parts:  # a table without rows has no batches
            return self._read(path, columns)
        return pd.concat([each for each in parts if len(each)] or parts[:1], ignore_index=True)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        """Yield the rows in batches of at most `batch_rows`, each as `_read` would return it.

        Batches without rows are left out by the caller.
        Required for `Feature.BATCHES`, and for the defaults of `_read_slice` and `_read_where`.
        """
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.BATCHES}, so it must override this"
        )


class ColumnReads(_Parts, feature=Feature.COLUMNS):
    """A format that reads some columns without the others, by `_read` and `_column_names`."""

    def _count_rows(self, path: Path) -> int:
        """Return the number of rows; by default the length of the first column."""
        return len(self._read(path, self._column_names(path)[:1]))


class RowReads(_Parts, feature=Feature.ROWS):
    """A format that reads a range of rows, by `_read_slice`, or by `_batches`."""


class FilteredReads(_Parts, feature=Feature.FILTER):
    """A format that reads the rows that pass a predicate, by `_read_where`, or by `_batches`."""


class BatchedReads(_Parts, feature=Feature.BATCHES):
    """A format that reads rows in batches, by `_batches`."""

    def iterate(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[pd.DataFrame]:
        """Read a table in batches of rows, for tables larger than the memory.

        Parameters
        ----------
        path : path-like
            Where the table was saved.
        columns : sequence of str, optional
            The columns to read, in the order wanted; all by default.
        batch_rows : int
            Maximum number of rows in a batch, at least 1; batches may have fewer.

        Returns
        -------
        iterator of pandas.DataFrame
            Shape (rows of the batch, columns), each with the default index, and the dtypes that the
            whole table has; none for a table without rows.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        UnknownNameError
            If a requested column is not in the table.
        UnsupportedError
            If the format does not support batched reads, or column projection.
        InvalidSelectionError
            If `batch_rows` is less than 1.
        """
        path = self._existing(path)
        self._require(Feature.BATCHES)
        if batch_rows < 1:
            raise InvalidSelectionError(f"a batch cannot have {batch_rows} rows")
        wanted = self._wanted(path, columns)
        batches = self._filled_batches(path, wanted, batch_rows)
        if wanted is None:
            return batches
        return (df if list(df.columns) == wanted else df[wanted] for df in batches)


class PartialReads(ColumnReads, RowReads, FilteredReads, BatchedReads):
    """A format whose library reads all kinds of parts."""
