"""Base class of table formats: checks, saves, reads of whole tables, codecs.

Each further concern is a protocol in a module of its own, from which an adapter derives as well:
`partial_reads`, `streams`, `tunable`, `partitioned`, `remote_tables`, `changeable`.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.column_batches import Batch, NumberReads
from adapter_core.errors import CannotHoldError, InvalidSelectionError, UnknownNameError
from adapter_core.features import PARTIAL_READS, Feature, lacking, unsupported
from adapter_core.kinds import NESTED, Kind, kinds_inside, kinds_of, leaves_of, nested_array
from adapter_core.partitioned import PartFiles, PartitionedTable, Partitions
from adapter_core.predicate import Predicate
from adapter_core.protocols import Composed
from adapter_core.remote_adapter import RemoteFacts
from adapter_core.tunable import SortedSaves, Tunable
from adapter_core.values import integers_beyond_float, with_nan

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class DataFormat(SortedSaves, NumberReads, RemoteFacts, Composed):
    """A format that stores a pandas DataFrame in a file or a directory.

    A subclass implements `_save` and `_read`, and declares the columns that it refuses. Tables have the
    default index, which is not stored, and text as column names.
    """

    supports: ClassVar[frozenset[Feature]] = frozenset()
    """Features of the protocols that the class derives from; any other raises `UnsupportedError`."""
    refuses: ClassVar[Mapping[Kind, str]] = {}
    """Kinds of column that the format, or its library, cannot store, with the reasons.

    They are refused inside nested values, too. `Kind.NESTED` stands for all kinds of nested columns.
    """
    refuses_inside: ClassVar[Mapping[Kind, str]] = {}
    """Kinds that it can store as columns, and not inside lists, structs and maps."""
    refuses_categories: ClassVar[Mapping[Kind, str]] = {}
    """Kinds that it can store as columns, and not as the categories of a column."""
    holds_duplicate_names: ClassVar[bool] = False
    """True if two columns may have the same name."""
    holds_nul_in_names: ClassVar[bool] = True
    """True if column names may contain NUL, which ends a name in libraries of C."""
    kept_names: ClassVar[str] = ""
    """Pattern of the column names that files keep; others have names there that the adapter alone knows.
    Empty if all are kept."""
    holds_zero_rows: ClassVar[bool] = True
    """True if a table without rows keeps its columns."""
    reads_nullable_integers_as_floats: ClassVar[bool] = False
    """True if integers among nulls come back as 64-bit floats, which are exact up to 2**53 only."""
    detects_truncation: ClassVar[bool] = True
    """True if reading a truncated file always raises."""
    maps_files: ClassVar[bool] = False
    """True if tables that were read are mapped files, whose pages come into memory when used."""
    tells_nan_from_null: ClassVar[bool] = True
    """True if NaN inside lists, structs and maps comes back as NaN; among columns, both are null."""
    kept_digits: ClassVar[int | None] = None
    """Significant decimal digits of a float that the library's writer keeps; None if all."""
    kept_decimals: ClassVar[int | None] = None
    """Decimals that it keeps of a float with as many, where these are fewer than `kept_digits`."""

    shortens_singles: ClassVar[bool] = False
    """True if 32-bit floats are written with as few digits as make them distinct, e.g. 0.1, and come
    back with 64 bits, close to the ones before and not equal."""

    _of_feature: ClassVar[dict[Feature, type[DataFormat]]] = {}
    """The protocol of each feature."""
    _of_hook: ClassVar[dict[str, type]] = {"_save_tuned": Tunable, "partitioned": Partitions}

    iterate = lacking(Feature.BATCHES)
    save_batches = lacking(Feature.STREAMS)
    read_remote = lacking(Feature.REMOTE)
    save_remote = lacking(Feature.REMOTE_SAVE)
    count_rows_remote = lacking(Feature.REMOTE_SAVE)
    partitioned_remote = lacking(Feature.REMOTE_SAVE)

    def __init_subclass__(cls, feature: Feature | None = None, **kwargs: Any) -> None:
        """Derive `supports` from the protocols of the class.

        Parameters
        ----------
        feature : Feature, optional
            The feature that a protocol stands for.
        """
        super().__init_subclass__(**kwargs)
        if Kind.NESTED in cls.refuses:
            cls.refuses = {**dict.fromkeys(NESTED, cls.refuses[Kind.NESTED]), **cls.refuses}
        if Kind.ARROW in cls.refuses:
            cls.refuses = {Kind.CALENDAR_INTERVAL: cls.refuses[Kind.ARROW], **cls.refuses}
        if feature is not None:
            cls._of_feature[feature] = cls
        declared = vars(cls).get("supports")  # in other packages; the one way until version 0.1
        if declared is not None:
            cls._derive_from(of for each, of in cls._of_feature.items() if each in declared)
        found = {each for each, of in cls._of_feature.items() if of in cls.__mro__}
        if declared is not None:
            found -= PARTIAL_READS - declared
        remote = {Feature.REMOTE: cls.remote_schemes, Feature.REMOTE_SAVE: cls.save_schemes}
        cls.supports = frozenset(found) | {each for each, schemes in remote.items() if schemes}

    @property
    def kept(self) -> tuple[int | None, int | None]:
        """`kept_digits` and `kept_decimals`, as verifiers take them."""
        return self.kept_digits, self.kept_decimals

    def keeps_float(self, number: float) -> bool:
        """Return True if a float has no more digits and decimals than files keep."""
        digits = self.kept_digits is None or float(f"{number:.{self.kept_digits - 1}e}") == number
        decimals = self.kept_decimals is None or round(number, self.kept_decimals) == number
        return digits and decimals

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
        chosen = self._chosen(codec, level)
        path = self._in_folder(path)
        if self.checks_saves:
            self.check(df)
        with self.replacing(path) as temporary:
            self._save(df, temporary, **chosen)

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedTable:
        """Return a table that several processes write and read, one partition each.

        By default it is a folder of files of this format. Formats with a log of their own override this.
        """
        return PartFiles(Path(path), self)

    def count_rows(self, path: str | os.PathLike[str]) -> int:
        """Return the number of rows of a saved table, by the least reading that the library offers.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        return self._count_rows(self._existing(path))

    def read(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        rows: slice | Predicate | None = None,
    ) -> pd.DataFrame:
        """Read a table back, or some of its columns and rows if the format is of a protocol for that.

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
        path = self._existing(path)
        if columns is not None:
            raise unsupported(self, Feature.COLUMNS)
        if rows is not None:
            raise unsupported(self, Feature.FILTER if isinstance(rows, Predicate) else Feature.ROWS)
        return self._read(path, None)

    def check(self, df: pd.DataFrame) -> None:
        """Raise `CannotHoldError`, with the reason, if the format cannot store this table as it is."""
        self._check_labels(df)
        for position, kind in enumerate(kinds_of(df)):
            if kind in self.refuses:
                self._refuse_column(df.columns[position], f"{kind}; {self.refuses[kind]}")
            if kind in NESTED:
                self._check_inside(df.columns[position], kind, nested_array(df.iloc[:, position]))
            if kind is Kind.CATEGORY_NOT_TEXT:
                self._check_categories(df.columns[position], df.iloc[:, position].cat.categories)
        if len(df) == 0 and not self.holds_zero_rows:
            raise self.refusal("the table has no rows, and without rows its columns would be lost")
        if self.reads_nullable_integers_as_floats:
            name = integers_beyond_float(df, {Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED})
            self._refuse_column(name, "nulls and integers beyond 2**53, which are read as floats")
        self._check_values(df)

    def _check_categories(self, name: str, categories: pd.Index) -> None:
        """Raise `refusal` for categories that cannot be stored, or not as values of a column."""
        values = categories.to_frame(index=False, name=name)
        (kind,) = kinds_of(values)
        if kind in self.refuses_categories:
            self._refuse_column(name, f"categories of {kind}; {self.refuses_categories[kind]}")
        self.check(values)

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        """Raise `refusal` if a nested column contains values that the format cannot store."""
        refused = {**self.refuses, **self.refuses_inside}
        for inside in sorted(kinds_inside(array.type)):
            if inside in refused:
                self._refuse_column(name, f"{kind} with {inside}; {refused[inside]}")
        for leaves in leaves_of(array):
            self._check_leaves(name, kind, leaves)

    def _check_leaves(self, name: str, kind: Kind, leaves: pa.Array) -> None:
        """Raise `refusal` for values inside a nested column, of any length, that cannot be stored.

        By default these are the values that cannot be stored in a column of their own.
        """
        import pandas as pd

        if not self.tells_nan_from_null and with_nan(leaves):
            self._refuse_column(name, f"{kind} with NaN, which would be null")
        self._check_values(pd.DataFrame({name: leaves.drop_null().to_pandas()}))

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

    def _require(self, feature: Feature) -> None:
        if feature not in self.supports:
            raise unsupported(self, feature)

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
        """Write the checked and sorted table as the library does unasked; see `Tunable`."""
        self._save(df, path, **self._chosen(self.default_codec if self.codecs else None, None))

    def _count_rows(self, path: Path) -> int:
        """Return the number of rows; by default the length of the table."""
        return len(self._read(path, None))

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

    def _check_names(self, path: Path, columns: Sequence[str], *, once: bool = False) -> None:
        """Raise `UnknownNameError` for an unknown column, if the format lists its columns."""


class ColumnNames(DataFormat):
    """A format whose library lists the columns of a file."""

    def _check_names(self, path: Path, columns: Sequence[str], *, once: bool = False) -> None:
        known = self._column_names(path)
        for name in columns:
            if name not in known:
                raise UnknownNameError("column", name, known)
            if once and known.count(name) > 1:
                raise InvalidSelectionError(f"several columns have the name {name!r}")

    def _column_names(self, path: Path) -> list[str]:
        """Return the names of the columns in a file; not needed for row slices and batches alone."""
        raise NotImplementedError(f"{type(self).__module__}: must list columns, so override this")
