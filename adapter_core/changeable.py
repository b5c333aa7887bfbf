"""Base class of table formats whose saved tables can be changed in place."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.data_format import DataFormat
from adapter_core.errors import InvalidSelectionError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


class ChangeableFormat(DataFormat):
    """A format whose library appends, updates and deletes rows of a saved table, and adds columns.

    A change is a transaction of the library: after an error the table is as it was. The order of rows
    after a change is the library's.
    """

    def append(self, path: str | os.PathLike[str], df: pd.DataFrame) -> None:
        """Add rows.

        Parameters
        ----------
        path : path-like
            Where the table was saved.
        df : pandas.DataFrame
            The rows, with the columns of the table in its order.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        CannotHoldError
            If the format cannot store the rows.
        InvalidSelectionError
            If the columns are not those of the table.
        """
        self._append(self._checked_rows(path, df), df)

    def update(self, path: str | os.PathLike[str], key: str, df: pd.DataFrame) -> None:
        """Replace the rows that have the same key as one of the given rows.

        Parameters
        ----------
        path, df
            As for `append`; keys that the table lacks are ignored.
        key : str
            A column without duplicates or nulls.

        Raises
        ------
        FileNotFoundError, CannotHoldError, InvalidSelectionError
            As for `append`.
        UnknownNameError
            If the column `key` is missing.
        """
        path = self._checked_rows(path, df)
        self._check_names(path, [key])
        if len(df.columns) == 1:
            raise InvalidSelectionError("there is no column besides the key")
        self._update(path, key, df)

    def delete(self, path: str | os.PathLike[str], key: str, values: Sequence[int]) -> None:
        """Remove the rows whose key is one of some integers.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        UnknownNameError
            If the column `key` is missing.
        InvalidSelectionError
            If values are missing.
        """
        path = Path(path)
        self._check_exists(path)
        self._check_names(path, [key])
        if not len(values):
            raise InvalidSelectionError("at least one key is needed")
        self._delete(path, key, [int(each) for each in values])

    def add_column(self, path: str | os.PathLike[str], name: str) -> None:
        """Add a column of 64-bit floats, which are null in all rows, behind the others.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        InvalidSelectionError
            If the table has a column of that name.
        """
        path = Path(path)
        self._check_exists(path)
        if name in self._column_names(path):
            raise InvalidSelectionError(f"the table has a column {name!r} already")
        self._add_column(path, name)

    def _checked_rows(self, path: str | os.PathLike[str], df: pd.DataFrame) -> Path:
        path = Path(path)
        self._check_exists(path)
        self.check(df)
        known = self._column_names(path)
        for name in df.columns:
            if name not in known:
                raise UnknownNameError("column", name, known)
        if list(df.columns) != known:
            raise InvalidSelectionError(
                f"{self.label}: rows need the columns of the table, in its order"
            )
        return path

    @abstractmethod
    def _append(self, path: Path, df: pd.DataFrame) -> None:
        """Add checked rows."""

    @abstractmethod
    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        """Replace the rows with the keys of checked rows."""

    @abstractmethod
    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        """Remove the rows with these keys."""

    @abstractmethod
    def _add_column(self, path: Path, name: str) -> None:
        """Add a column of floats, all null, whose name is new."""
