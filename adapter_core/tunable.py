"""Tables written for queries: sorted by any format, and with indexes or statistics by some."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


class SortedSaves(CodecChoice):
    """Saves of sorted tables: the part of `DataFormat` that `Tunable` formats add to."""

    tuned_options: ClassVar[Mapping[str, Any]] = {}
    """Options of the library in `save_tuned`, by its own names for them."""
    tuned_indexes: ClassVar[str] = ""
    """Phrase on the additions of `save_tuned` for the sort key and the lookup columns, e.g. indexes."""

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
        path = self._in_folder(path)
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
        """Return the work of `save_tuned`, with all options, in one phrase."""
        options = [f"{name}={value}" for name, value in self.tuned_options.items()]
        return "; ".join(filter(None, ["rows sorted", self.tuned_indexes, ", ".join(options)]))

    @abstractmethod
    def check(self, df: pd.DataFrame) -> None:
        """Raise `CannotHoldError`, with the reason, if the format cannot store this table as it is."""

    @abstractmethod
    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        """Write the checked and sorted table."""


class Tunable(SortedSaves):
    """A table format that has more than an order of rows for queries, e.g. indexes or statistics.

    An adapter declares `tuned_options` and `tuned_indexes`, and implements `_save_tuned`.
    """

    @abstractmethod
    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        """Write the checked and sorted table.

        Parameters
        ----------
        df, path
            As for `_save`.
        sort_by, lookups : list of str
            Columns that exist; no lookup column is a sort key.
        """
