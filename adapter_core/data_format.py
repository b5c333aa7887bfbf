"""Base class of table formats: checks, saving, reading whole tables and parts, codecs."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.column_batches import ColumnSums, needed_columns, selected, sums_of
from adapter_core.errors import (
    CannotHoldError,
    FormatBenchError,
    InvalidSelectionError,
    RemoteReadError,
    RemoteWriteError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.kinds import Kind, kinds_of
from adapter_core.partitioned import PartFiles, PartObjects
from adapter_core.predicate import Predicate, bounds
from adapter_core.remote_adapter import RemoteAdapter
from adapter_core.values import integers_beyond_float

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core.column_batches import Batch
    from adapter_core.partitioned import PartitionedTable
    from adapter_core.remote import RemoteFile


class Feature(StrEnum):
    """Optional features of table formats, beyond saving and reading whole tables."""

    COLUMNS = "column projection"
    """Reads only the requested columns, without building the others."""
    ROWS = "row slices"
    """Reads a range of rows, with less work or less memory than for all rows."""
    FILTER = "row filters"
    """Reads the rows that pass a predicate, with less work or less memory than for all rows."""
    BATCHES = "batched reads"
    """Reads batches of rows one after the other, in memory for some of them."""
    REMOTE = "reader of files on servers"
    """Reads over a network, by `DataFormat.read_remote`; derived from `DataFormat.remote_schemes`."""
    REMOTE_SAVE = "writer to object stores"
    """Writes over a network, by `DataFormat.save_remote`; derived from `DataFormat.save_schemes`."""
    STREAMS = "streamed writes"
    """Writes batches of rows one after the other, by `DataFormat.save_batches`; derived."""


PARTIAL_READS = frozenset({Feature.COLUMNS, Feature.ROWS, Feature.FILTER, Feature.BATCHES})
"""Features of a format whose library reads all kinds of parts."""

_INSTEAD = {
    Feature.COLUMNS: "it reads whole tables only",
    Feature.ROWS: "it reads all rows",
    Feature.FILTER: "it reads all rows",
    Feature.BATCHES: "it reads all rows at once",
    Feature.REMOTE: "it reads local files only",
    Feature.REMOTE_SAVE: "it writes local files only",
    Feature.STREAMS: "it writes whole tables only",
}
"""Behaviour of a format without a feature."""

BATCH_ROWS = 65_536
"""Default of the maximum number of rows in a batch."""


class DataFormat(RemoteAdapter):
    """A format that stores a pandas DataFrame in a file or a directory.

    A subclass implements `_save` and `_read`, and declares the columns that it refuses. Tables have the
    default index, which is not stored, and text as column names.
    """

    supports: ClassVar[frozenset[Feature]] = frozenset()
    """Supported features; any other raises `UnsupportedError`."""
    refuses: ClassVar[Mapping[Kind, str]] = {}
    """Kinds of column that the format, or its library, cannot store, with the reasons."""
    holds_duplicate_names: ClassVar[bool] = False
    """True if two columns may have the same name."""
    holds_nul_in_names: ClassVar[bool] = True
    """True if column names may contain NUL, which ends a name in libraries of C."""
    holds_zero_rows: ClassVar[bool] = True
    """True if a table without rows keeps its columns."""
    reads_nullable_integers_as_floats: ClassVar[bool] = False
    """True if integers among nulls come back as 64-bit floats, which are exact up to 2**53 only."""
    detects_truncation: ClassVar[bool] = True
    """True if reading a truncated file always raises."""
    kept_digits: ClassVar[int | None] = None
    """Significant decimal digits of a float that the library's writer keeps; None if all."""
    kept_decimals: ClassVar[int | None] = None
    """Decimals that it keeps of a float with as many, where these are fewer than `kept_digits`."""
    tuned_options: ClassVar[Mapping[str, Any]] = {}
    """Options of the library in `save_tuned`, by its own names for them."""
    tuned_indexes: ClassVar[str] = ""
    """Phrase on what `save_tuned` adds for the sort key and the lookup columns, e.g. indexes."""
    is_tuned: ClassVar[bool] = False
    """True if `save_tuned` does more than to sort the rows, which overriding `_save_tuned` declares."""
    keeps_order_of_batches: ClassVar[bool] = True
    """False if rows that `save_batches` wrote may be read in another order."""
    remote_schemes: ClassVar[tuple[str, ...]] = ()
    """Protocols of `read_remote`, the fastest first: ``s3``, ``http`` (and https), ``root``."""
    save_schemes: ClassVar[tuple[str, ...]] = ()
    """Protocols of `save_remote`, by which `read_remote` reads what it wrote."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        remote = {Feature.REMOTE} if cls.remote_schemes else set()
        remote |= {Feature.REMOTE_SAVE} if cls.save_schemes else set()
        streams = set() if cls._save_batches is DataFormat._save_batches else {Feature.STREAMS}
        derived = {Feature.REMOTE, Feature.REMOTE_SAVE, Feature.STREAMS}
        cls.supports = (cls.supports - derived) | remote | streams
        cls.is_tuned = cls._save_tuned is not DataFormat._save_tuned

    @property
    def kept(self) -> tuple[int | None, int | None]:
        """`kept_digits` and `kept_decimals`, as verifiers take them."""
        return self.kept_digits, self.kept_decimals

    def save(
        self,
        df: pd.DataFrame,
        path: str | os.PathLike[str],
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write a table without its index, and replace an earlier file at `path`.

        The table is written under a temporary name beside `path` and renamed when complete.

        Parameters
        ----------
        df : pandas.DataFrame
            Shape (rows, columns), with the default index and text column names.
        path : path-like
            The file, or the directory for formats that write one.
        codec : str, optional
            The name of one of `codecs`; by default values are not compressed.
        level : int, optional
            Compression level; by default the codec's `default_level`.

        Raises
        ------
        CannotHoldError
            If the format cannot store this table as it is. Nothing has been written then.
        UnknownNameError, UnknownLevelError, UnsupportedError
            If the format lacks that codec, the codec lacks that level, or the format has no codecs.
        UnavailableError
            If the codec cannot work here.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        path = Path(path)
        chosen = self._chosen(codec, level)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        if self.checks_saves:
            self.check(df)
        with self.replacing(path) as temporary:
            self._save(df, temporary, **chosen)

    def save_tuned(
        self,
        df: pd.DataFrame,
        path: str | os.PathLike[str],
        sort_by: Sequence[str],
        lookups: Sequence[str] = (),
    ) -> None:
        """Write a table for queries: sorted, with the statistics, indexes or filters of the format.

        The writer knows the columns that queries select by, but no constants of theirs. Its options are
        `tuned_options`. The file is read like one of `save`.

        Parameters
        ----------
        df, path
            As for `save`.
        sort_by : sequence of str
            The columns to sort the rows by, ascending, nulls last.
        lookups : sequence of str, optional
            Further columns that queries look up values in.

        Raises
        ------
        CannotHoldError
            If the format cannot store this table as it is. Nothing has been written then.
        UnknownNameError
            If a column is not in the table.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        for name in (*sort_by, *lookups):
            if name not in df.columns:
                raise UnknownNameError("column", name, list(df.columns))
        if self.checks_saves:
            self.check(df)
        if sort_by and not (len(sort_by) == 1 and df[sort_by[0]].is_monotonic_increasing):
            df = df.sort_values(list(sort_by), kind="stable", ignore_index=True)
        others = [name for name in dict.fromkeys(lookups) if name not in sort_by]
        with self.replacing(path) as temporary:
            self._save_tuned(df, temporary, list(sort_by), others)

    def tuning(self) -> str:
        """Return what `save_tuned` does, with all options, in one phrase."""
        options = [f"{name}={value}" for name, value in self.tuned_options.items()]
        return "; ".join(filter(None, ["rows sorted", self.tuned_indexes, ", ".join(options)]))

    def save_batches(self, batches: Iterable[pd.DataFrame], path: str | os.PathLike[str]) -> None:
        """Write a table from batches of rows, in memory for few of them; replace an earlier file.

        The table is written under a temporary name beside `path` and renamed when complete, and is not
        compressed. Its rows have the order of the batches, unless `keeps_order_of_batches` is False.

        Parameters
        ----------
        batches : iterable of pandas.DataFrame
            At least one, each with the default index, and the columns and dtypes of the first.
        path : path-like
            The file, or the directory for formats that write one.

        Raises
        ------
        CannotHoldError
            If the format cannot store a batch, a batch has other columns than the first, or there is
            none. The path is as it was then.
        UnsupportedError
            If the format, or its library, writes whole tables only.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        self._require(Feature.STREAMS)
        path = Path(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        refused: list[Exception] = []
        with self.replacing(path) as temporary:
            try:
                self._save_batches(self._checked(batches, refused), temporary)
            except Exception as error:
                # Libraries of Rust wrap the errors of a stream in their own.
                if refused and error is not refused[0]:
                    raise refused[0] from error
                raise

    def _checked(
        self, batches: Iterable[pd.DataFrame], refused: list[Exception]
    ) -> Iterator[pd.DataFrame]:
        """Yield the batches; an error of making or checking them is also added to a list."""
        try:
            yield from self._storable(batches)
        except Exception as error:
            refused.append(error)
            raise

    def _storable(self, batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Yield batches that the format can store, whose dtypes are equal."""
        dtypes = None
        for df in batches:
            dtypes = df.dtypes if dtypes is None else dtypes
            if not df.dtypes.equals(dtypes):
                raise self.refusal("a batch has other columns or dtypes than the first")
            if self.checks_saves:
                self.check(df)
            yield df
        if dtypes is None:
            raise self.refusal("it has no batches")

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedTable:
        """Return a table that several processes write and read, one partition each.

        By default it is a folder of files of this format. Formats with a log of their own override this.
        """
        return PartFiles(Path(path), self)

    def partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        """Return a table in an object store that several processes write and read.

        By default it is a set of objects of this format. Formats with a log of their own override
        `_partitioned_remote`.

        Parameters
        ----------
        file : RemoteFile
            Address of the table's folder, without a slash at its end.

        Raises
        ------
        UnsupportedError
            If the library cannot write to an object store, or not by this protocol.
        UnavailableError
            If a package of `remote_requires` is missing.
        """
        self._require(Feature.REMOTE_SAVE)
        self._check_server(file, self.save_schemes, "writes")
        return self._partitioned_remote(file)

    def count_rows(self, path: str | os.PathLike[str]) -> int:
        """Return the number of rows of a saved table, by the least reading that the library offers.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        path = Path(path)
        self._check_exists(path)
        return self._count_rows(path)

    def count_rows_remote(self, file: RemoteFile) -> int:
        """Return the number of rows of a table that `save_remote` has written, as `count_rows`.

        Raises
        ------
        UnsupportedError, UnavailableError, RemoteReadError
            As `read_remote`.
        """
        self._require(Feature.REMOTE_SAVE)
        self._check_server(file, self.save_schemes, "reads")
        with self._at_server(file, RemoteReadError):
            return self._count_rows_remote(file)

    def read(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        rows: slice | Predicate | None = None,
    ) -> pd.DataFrame:
        """Read a table back, or some of its columns and rows.

        Parameters
        ----------
        path : path-like
            Where the table was saved.
        columns : sequence of str, optional
            The columns to read, in the order wanted; all by default.
        rows : slice or Predicate, optional
            The range of rows to read, or the condition for rows to read; all by default. A slice has no
            step, and may end beyond the table. The columns of a predicate need not be requested.

        Returns
        -------
        pandas.DataFrame
            Shape (rows, columns), with the default index, and the dtypes that the whole table has.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        UnknownNameError
            If a requested or compared column is not in the table.
        UnsupportedError
            If the format does not support column projection, row slices or row filters.
        InvalidSelectionError
            If a slice has a step or negative bounds, or a predicate does not fit the type of a column.
        """
        path = Path(path)
        self._check_exists(path)
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
        path = Path(path)
        self._check_exists(path)
        self._require(Feature.BATCHES)
        if batch_rows < 1:
            raise InvalidSelectionError(f"a batch cannot have {batch_rows} rows")
        wanted = self._wanted(path, columns)
        batches = self._filled_batches(path, wanted, batch_rows)
        if wanted is None:
            return batches
        return (df if list(df.columns) == wanted else df[wanted] for df in batches)

    def _filled_batches(
        self, path: Path, columns: list[str] | None, batch_rows: int
    ) -> Iterator[pd.DataFrame]:
        return (df for df in self._batches(path, columns, batch_rows) if len(df))

    def read_arrays(
        self, path: str | os.PathLike[str], columns: Sequence[str], where: Predicate | None = None
    ) -> dict[str, np.ndarray]:
        """Read columns of numbers as arrays, by the library's shortest way.

        Columns are floats, integers or booleans without nulls; NaN is a number here. Unlike `read`, this
        makes no DataFrame, and does not check the names first, which could be another request.

        Parameters
        ----------
        path : path-like
            Where the table was saved.
        columns : sequence of str
            The columns to read, at least one.
        where : Predicate, optional
            The condition for rows to return; all by default. Its columns need not be requested, and
            are columns of numbers, too.

        Returns
        -------
        dict of numpy.ndarray
            An array of shape (selected rows,) for each column, in the order requested, in the dtype that
            the library reads.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        UnknownNameError
            If a requested or compared column is not in the table.
        InvalidSelectionError
            If no column is requested, a column contains anything but numbers, or does not fit the
            predicate.
        """
        path, names = Path(path), list(dict.fromkeys(columns))
        with self._explained(path, names, where):
            return self._read_arrays(path, names, where)

    def sum_columns(
        self, path: str | os.PathLike[str], columns: Sequence[str], where: Predicate | None = None
    ) -> ColumnSums:
        """Count the selected rows and add up columns of numbers, by the library's shortest way.

        Libraries that can add up do so themselves, e.g. in SQL. Others read batches of columns as NumPy
        arrays, and the batches' sums are added without rounding. The order of addition, hence the last
        digits, may differ between libraries, and with the number of threads.

        Parameters
        ----------
        path, columns, where
            As for `read_arrays`.

        Returns
        -------
        ColumnSums
            Number of selected rows, and the sum of each column over these.

        Raises
        ------
        FileNotFoundError, UnknownNameError, InvalidSelectionError
            As for `read_arrays`.
        """
        path, names = Path(path), list(dict.fromkeys(columns))
        with self._explained(path, names, where):
            return self._sum_columns(path, names, where)

    @contextmanager
    def _explained(self, path: Path, columns: list[str], where: Predicate | None) -> Iterator[None]:
        """Check what is requested; raise `UnknownNameError` if a failure comes from an unknown name."""
        self._check_exists(path)
        if not columns:
            raise InvalidSelectionError("at least one column is needed")
        try:
            yield
        except FormatBenchError:
            raise
        except Exception:
            if Feature.COLUMNS in self.supports:
                self._check_names(path, needed_columns(columns, where))
            raise

    def _wanted(self, path: Path, columns: Sequence[str] | None) -> list[str] | None:
        """Return the requested columns, which have been checked; None for all."""
        if columns is None:
            return None
        self._require(Feature.COLUMNS)
        self._check_names(path, columns)
        return list(columns)

    def _require(self, feature: Feature) -> None:
        if feature not in self.supports:
            raise UnsupportedError(f"{self.label} has no {feature}: {_INSTEAD[feature]}")

    def _check_names(self, path: Path, columns: Sequence[str], *, once: bool = False) -> None:
        known = self._column_names(path)
        for name in columns:
            if name not in known:
                raise UnknownNameError("column", name, known)
            if once and known.count(name) > 1:
                raise InvalidSelectionError(f"several columns have the name {name!r}")

    def read_remote(self, file: RemoteFile, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table, or some of its columns, from a server by the library's own remote reader.

        Readers of whole files download the file first.

        Parameters
        ----------
        file : RemoteFile
            A file or directory that `save` has written.
        columns : sequence of str, optional
            The columns to read, in the order wanted; all by default.

        Returns
        -------
        pandas.DataFrame
            Shape (rows, columns), with the default index.

        Raises
        ------
        UnsupportedError
            If the library has no remote reader, or none for this protocol, or columns are requested and
            the format does not support column projection.
        UnavailableError
            If a package of `remote_requires` is missing.
        RemoteReadError
            If the server cannot be reached, does not have the file, refuses it or breaks off, or the
            file lacks a column.
        """
        schemes = tuple(dict.fromkeys(self.remote_schemes + self.save_schemes))
        if not schemes:
            self._require(Feature.REMOTE)
        self._check_server(file, schemes, "reads")
        if columns is not None:
            self._require(Feature.COLUMNS)
        with self._at_server(file, RemoteReadError):
            df = self._read_remote(file, None if columns is None else list(columns))
            # The names in the file would cost further requests, so they have not been asked for.
            return df if columns is None or list(df.columns) == list(columns) else df[list(columns)]

    def save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write a table to an object store by the library's own writer.

        Libraries replace an object of that address, and refuse or extend a table of several objects, so
        nothing should be there. After an error, or if the process is ended, objects and incomplete
        uploads may be left.

        Parameters
        ----------
        df : pandas.DataFrame
            Shape (rows, columns), with the default index and text column names.
        file : RemoteFile
            The object, or the prefix of the objects for formats that write several.
        codec : str, optional
            The name of one of `codecs`; by default values are not compressed.
        level : int, optional
            Compression level; by default the codec's `default_level`.

        Raises
        ------
        UnsupportedError
            If the library cannot write to an object store, or not by this protocol.
        CannotHoldError
            If the format cannot store this table as it is. Nothing has been written then.
        UnknownNameError, UnknownLevelError
            If the format lacks that codec, or the codec lacks that level.
        UnavailableError
            If the codec cannot work here, or a package of `remote_requires` is missing.
        RemoteWriteError
            If the server cannot be reached, refuses the table or breaks off.
        """
        if not self.save_schemes:
            raise UnsupportedError(f"{self.label} has no {Feature.REMOTE_SAVE}: {self.local_only}")
        self._check_server(file, self.save_schemes, "writes")
        chosen = self._chosen(codec, level)
        if self.checks_saves:
            self.check(df)
        with self._at_server(file, RemoteWriteError):
            self._save_remote(df, file, **chosen)

    def check(self, df: pd.DataFrame) -> None:
        """Raise `CannotHoldError`, with the reason, if the format cannot store this table as it is."""
        self._check_labels(df)
        for position, kind in enumerate(kinds_of(df)):
            if kind in self.refuses:
                self._refuse_column(df.columns[position], f"{kind}; {self.refuses[kind]}")
        if len(df) == 0 and not self.holds_zero_rows:
            raise self.refusal("the table has no rows, and without rows its columns would be lost")
        if self.reads_nullable_integers_as_floats:
            name = integers_beyond_float(df, {Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED})
            self._refuse_column(name, "nulls and integers beyond 2**53, which are read as floats")
        self._check_values(df)

    def refusal(self, reason: str) -> CannotHoldError:
        """Return the error to raise for a table that this format cannot store."""
        return CannotHoldError(f"{self.label} cannot store this table: {reason}")

    def _refuse_column(self, name: str | None, contents: str) -> None:
        """Raise `refusal` for a column that the format cannot store; do nothing if the name is None.

        Parameters
        ----------
        name : str or None
            The column, as the functions of `adapter_core.values` return it.
        contents : str
            The values that cannot be stored, and perhaps the reason.
        """
        if name is not None:
            raise self.refusal(f"column {name!r} contains {contents}")

    def _check_labels(self, df: pd.DataFrame) -> None:
        import pandas as pd

        index, names = df.index, df.columns
        default = isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(df)))
        if not default or index.name is not None:
            raise self.refusal("the index is not kept; call reset_index() first")
        if names.nlevels > 1 or not all(isinstance(name, str) for name in names):
            raise self.refusal("column names must be text, in one level")
        if len(names) == 0:
            raise self.refusal("it has no columns")
        if not self.holds_nul_in_names:
            for name in names:
                if "\0" in name:
                    raise self.refusal(f"the column name {name!r} contains a NUL, which ends a name")
        if not self.holds_duplicate_names and not names.is_unique:
            twice = names[names.duplicated()][0]
            raise self.refusal(f"two columns have the name {twice!r}")

    def _check_values(self, df: pd.DataFrame) -> None:
        """Raise `refusal` for values or names that the format cannot store; accepts all by default."""

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        """Read the table, or the given columns in any order; required for `remote_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE}, so it must override this"
        )

    def _partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        """Return the table in partitions at an address of a protocol of `save_schemes`."""
        return PartObjects(file, self)

    def _count_rows_remote(self, file: RemoteFile) -> int:
        """Return the number of rows; by default the length of the whole table."""
        return len(self._read_remote(file, None))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked table; required for `save_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE_SAVE}, so it must override this"
        )

    @staticmethod
    def plain_save(df: pd.DataFrame, path: Path) -> None:
        """Save a table by the plainest call of the library; optional.

        `tools.overhead` compares `save` with it, and `read` with `plain_read`. Measurements use neither.
        """
        raise NotImplementedError

    @staticmethod
    def plain_read(path: Path) -> pd.DataFrame:
        """Read by the plainest call of the library; declared together with `plain_save`."""
        raise NotImplementedError

    @abstractmethod
    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked table to a path that does not exist yet.

        Formats without codecs are called without the last two parameters.
        """

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],  # noqa: ARG002 (for formats with more than an order)
        lookups: list[str],  # noqa: ARG002
    ) -> None:
        """Write the checked and sorted table, by default as the library does unasked.

        Overriding it declares `is_tuned`.

        Parameters
        ----------
        df, path
            As for `_save`.
        sort_by, lookups : list of str
            Columns that exist; no lookup column is a sort key.
        """
        self._save(df, path, **self._chosen(self.default_codec if self.codecs else None, None))

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        """Write checked batches, at least one, to a path that does not exist yet.

        Overriding it declares `Feature.STREAMS`.
        """
        raise NotImplementedError

    def _count_rows(self, path: Path) -> int:
        """Return the number of rows; by default the length of the first column, or of the table."""
        if Feature.COLUMNS not in self.supports:
            return len(self._read(path, None))
        return len(self._read(path, self._column_names(path)[:1]))

    @abstractmethod
    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        """Read the table, or the given columns in any order; all of them exist."""

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        """Yield all rows of some columns as NumPy arrays; the columns may not exist.

        By default there is one batch, from `_read`.
        """
        df = self._read(path, columns if Feature.COLUMNS in self.supports else None)
        for name in columns:
            if name not in df.columns:
                raise UnknownNameError("column", name, df.columns)
        yield {name: df[name].to_numpy() for name in columns}

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        """Read the selected rows of some columns; by default `_array_batches`, joined."""
        return selected(self._array_batches(path, needed_columns(columns, where)), columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        """Add up the selected rows of some columns; by default from `_array_batches`."""
        return sums_of(self._array_batches(path, needed_columns(columns, where)), columns, where)

    def _column_names(self, path: Path) -> list[str]:
        """Return the names of the columns in a file; required for column projection and row filters."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.COLUMNS}, so it must override this"
        )

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
