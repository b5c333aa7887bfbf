"""Tables written in batches of rows, one after the other."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.features import Feature

if TYPE_CHECKING:
    import pandas as pd


class Streams(DataFormat, feature=Feature.STREAMS, hooks=("_save_batches",)):
    """A format whose library appends to a file, or takes a stream; it implements `_save_batches`."""

    keeps_order_of_batches: ClassVar[bool] = True
    """False if rows that `save_batches` wrote may be read in another order."""

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
        FileNotFoundError
            If the folder to write in does not exist.
        """
        refused: list[Exception] = []
        with self.replacing(self._in_folder(path)) as temporary:
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
        dtypes, untyped = None, []
        for df in batches:
            if dtypes is not None and not df.dtypes.equals(dtypes):
                raise self.refusal("a batch has other columns or dtypes than the first")
            if self.checks_saves:
                self.check(df)
            if dtypes is None:
                dtypes = df.dtypes
                untyped = [name for name in df.columns[dtypes == object] if df[name].isna().all()]
            for name in untyped:
                if df[name].notna().any():
                    reason = f"column {name!r} has nulls alone in the first batch, and so no type"
                    raise self.refusal(f"{reason} of its later values")
            yield df
        if dtypes is None:
            raise self.refusal("it has no batches")

    @abstractmethod
    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        """Write checked batches, at least one, to a path that does not exist yet."""
