"""The base of all table formats: what a table must be, saving, reading, columns, codecs."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.adapter import BaseAdapter
from adapter_core.availability import Availability, import_failure, probe
from adapter_core.errors import (
    CannotHoldError,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.kinds import Kind, kinds_of
from adapter_core.values import integers_beyond_float

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core.codecs import Codec


class Feature(StrEnum):
    """What a table format may offer beyond saving and reading whole tables."""

    COLUMNS = "column projection"
    """Reads the columns that are asked for, without building the others."""


class DataFormat(BaseAdapter):
    """A format that keeps a pandas DataFrame in a file or a directory.

    A subclass writes `_save` and `_read`, and declares what it refuses. The index is never kept, so
    only tables with the default index are taken; column names are text.
    """

    supports: ClassVar[frozenset[Feature]] = frozenset()
    """Features that work; any other raises `UnsupportedError`."""
    refuses: ClassVar[Mapping[Kind, str]] = {}
    """Kinds of column that the format, or its library, cannot hold, and why in a few words."""
    holds_duplicate_names: ClassVar[bool] = False
    """Whether two columns may have one name."""
    holds_zero_rows: ClassVar[bool] = True
    """Whether a table without rows keeps its columns."""
    reads_nullable_integers_as_floats: ClassVar[bool] = False
    """Whether integers among nulls come back as 64-bit floats, which hold none beyond 2**53."""
    detects_truncation: ClassVar[bool] = True
    """Whether reading a file that was cut short always raises."""
    kept_digits: ClassVar[int | None] = None
    """Decimal digits of a float that survive, where the library's writer keeps no more."""
    codecs: ClassVar[tuple[Codec, ...]] = ()
    """The codecs to choose from; none if files are always as `default_codec` says."""
    default_codec: ClassVar[str | None] = None
    """The codec that the library takes when none is named; `save` does so where there is no choice."""

    def availability(self) -> Availability:
        """Import what the format requires and tell whether it can work here.

        What only a codec requires may be missing; see `codec_availability`.
        """
        optional = {codec.requires for codec in self.codecs}
        needed = tuple(each for each in self.requires if each not in optional)
        return probe(needed, self.modules, self._install_hint)

    def codec_named(self, name: str) -> Codec:
        """Return one of the format's codecs.

        Raises
        ------
        UnknownNameError
            If it has none of that name.
        UnsupportedError
            If there is no choice.
        """
        if not self.codecs:
            raise UnsupportedError(f"{self.label} offers no choice of a codec")
        for codec in self.codecs:
            if codec.name == name:
                return codec
        raise UnknownNameError(f"{self.label} codec", name, [codec.name for codec in self.codecs])

    def codec_availability(self, name: str) -> Availability:
        """Tell whether one of the format's codecs can work here."""
        package = self.codec_named(name).requires
        reason = import_failure(self.modules.get(package, package)) if package else ""
        return Availability(not reason, reason, self._install_hint if reason else "")

    def codec_used(self, path: str | os.PathLike[str]) -> str | None:
        """Return the codec by which the values in a file are compressed, read from the file itself.

        Not all of them need be: a library may store values as they are where a codec would not make
        them smaller. What a format does besides, as dictionaries and bit-packing, is no codec.

        Raises
        ------
        FileNotFoundError
            If nothing is there.
        """
        path = Path(path)
        self._check_exists(path)
        return self._codec_used(path) if self.codecs or self.default_codec else None

    def save(
        self,
        df: pd.DataFrame,
        path: str | os.PathLike[str],
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write a table, without its index, replacing what is at `path`.

        The table is written under a temporary name beside `path` and renamed when complete.

        Parameters
        ----------
        df : pandas.DataFrame
            Shape (rows, columns), with the default index and text column names.
        path : path-like
            The file, or the directory for formats that write one.
        codec : str, optional
            The name of one of `codecs`; by default nothing is compressed.
        level : int, optional
            How hard the codec tries; its `default_level` by default.

        Raises
        ------
        CannotHoldError
            If the format cannot store this table as it is. Nothing is written then.
        UnknownNameError, UnknownLevelError, UnsupportedError
            If the format has no such codec, or the codec no such level, or there is no choice.
        UnavailableError
            If the codec cannot work here.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        path = Path(path)
        chosen = self._chosen(codec, level)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        self.check(df)
        with self.replacing(path) as temporary:
            self._save(df, temporary, **chosen)

    def read(self, path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table back, or some of its columns.

        Parameters
        ----------
        path : path-like
            Where the table was saved.
        columns : sequence of str, optional
            The columns to read, in the order wanted; all by default.

        Returns
        -------
        pandas.DataFrame
            Shape (rows, columns), with the default index.

        Raises
        ------
        FileNotFoundError
            If nothing is there.
        UnknownNameError
            If a column that is asked for is not in the table.
        UnsupportedError
            If columns are asked for and the format has no column projection.
        """
        path = Path(path)
        self._check_exists(path)
        if columns is None:
            return self._read(path, None)
        if Feature.COLUMNS not in self.supports:
            raise UnsupportedError(f"{self.label} has no {Feature.COLUMNS}: it reads whole tables only")
        known = self._column_names(path)
        for name in columns:
            if name not in known:
                raise UnknownNameError("column", name, known)
        df = self._read(path, list(columns))
        return df if list(df.columns) == list(columns) else df[list(columns)]

    def check(self, df: pd.DataFrame) -> None:
        """Raise `CannotHoldError`, with a sentence, if the format cannot store this table as it is."""
        self._check_labels(df)
        for position, kind in enumerate(kinds_of(df)):
            if kind in self.refuses:
                why = self.refuses[kind]
                raise self.refusal(f"column {df.columns[position]!r} contains {kind}; {why}")
        if len(df) == 0 and not self.holds_zero_rows:
            raise self.refusal("the table has no rows, and without rows its columns would be lost")
        if self.reads_nullable_integers_as_floats:
            name = integers_beyond_float(df, {Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED})
            if name is not None:
                raise self.refusal(
                    f"column {name!r} contains nulls and integers beyond 2**53, which are read as floats"
                )
        self._check_values(df)

    def refusal(self, reason: str) -> CannotHoldError:
        """Return the error that says why this format cannot hold a table."""
        return CannotHoldError(f"{self.label} cannot store this table: {reason}")

    def _chosen(self, codec: str | None, level: int | None) -> dict[str, Any]:
        """Return what to tell `_save` about compression, which is nothing where none is asked for."""
        if codec is None:
            if level is not None:
                raise UnknownLevelError(f"{self.label}: level {level} is given without a codec")
            return {}
        level = self.codec_named(codec).level_or_default(level)
        answer = self.codec_availability(codec)
        if not answer:
            raise UnavailableError(f"{self.label} with {codec}", answer.reason, answer.install_hint)
        return {"codec": codec, "level": level}

    def _check_exists(self, path: Path) -> None:
        if not path.exists():
            raise FileNotFoundError(f"{self.label}: there is no file {path}")

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
        if not self.holds_duplicate_names and not names.is_unique:
            twice = names[names.duplicated()][0]
            raise self.refusal(f"two columns have the name {twice!r}")

    def _check_values(self, df: pd.DataFrame) -> None:
        """Refuse values or names that the format cannot hold; formats that hold all do nothing."""

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
        """Write the checked table to a path where nothing is yet.

        A format that declares no codecs is given none, and may leave out the last two parameters.
        """

    @abstractmethod
    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        """Read the table, or the given columns, which are in the table, in any order."""

    def _codec_used(self, path: Path) -> str | None:
        """Find the codec in a file; needed if there can be one."""
        raise NotImplementedError(f"{type(self).__module__}: declares a codec, so it must override this")

    def _column_names(self, path: Path) -> list[str]:
        """Return the names of the columns in a file; needed for column projection."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.COLUMNS}, so it must override this"
        )
