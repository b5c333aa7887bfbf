"""Changes of saved tables in place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import ColumnNames
from adapter_core.errors import InvalidSelectionError, UnknownNameError, UnsupportedError

if TYPE_CHECKING:
    import pandas as pd


class TableChange(StrEnum):
    """A change of a saved table."""

    APPEND = "append"
    UPDATE = "update"
    DELETE = "delete"
    ADD_COLUMN = "add column"


_MUST_OVERRIDE = "the adapter must override this, or declare in unsupported_changes: "


class Changeable(ColumnNames):
    """A format whose library appends, updates and deletes rows of a saved table, and adds columns.

    An adapter overrides `_append`, `_update`, `_delete` and `_add_column`, except for the changes in
    `unsupported_changes`, each of which raises `UnsupportedError`. A change is a transaction of the
    library, unless the adapter's docstring restricts that: after an error the table is as it was. The
    order of rows after a change is the library's.
    """

    unsupported_changes: ClassVar[Mapping[TableChange, str]] = {}
    """Sentence on the reason, for each change that the library cannot make."""

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
        UnsupportedError
            If the change is one of `unsupported_changes`.
        FileNotFoundError
            If the path does not exist.
        CannotHoldError
            If the format cannot store the rows.
        InvalidSelectionError
            If the columns differ from the table's.
        """
        self._check_change(TableChange.APPEND)
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
        UnsupportedError, FileNotFoundError, CannotHoldError, InvalidSelectionError
            As for `append`.
        UnknownNameError
            If the column `key` is missing.
        """
        self._check_change(TableChange.UPDATE)
        path = self._checked_rows(path, df)
        self._check_names(path, [key])
        if len(df.columns) == 1:
            raise InvalidSelectionError("there is no column besides the key")
        self._update(path, key, df)

    def delete(self, path: str | os.PathLike[str], key: str, values: Sequence[int]) -> None:
        """Remove the rows whose key is one of some integers.

        Raises
        ------
        UnsupportedError, FileNotFoundError
            As for `append`.
        CannotHoldError
            If no row would be left, and the format cannot store such a table.
        UnknownNameError
            If the column `key` is missing.
        InvalidSelectionError
            If values are missing.
        """
        self._check_change(TableChange.DELETE)
        path = self._existing(path)
        self._check_names(path, [key])
        if not len(values):
            raise InvalidSelectionError("at least one key is needed")
        self._delete(path, key, [int(each) for each in values])

    def add_column(self, path: str | os.PathLike[str], name: str) -> None:
        """Add a column of 64-bit floats, which are null in all rows, behind the others.

        Raises
        ------
        UnsupportedError, FileNotFoundError
            As for `append`.
        InvalidSelectionError
            If the table has a column of that name.
        """
        self._check_change(TableChange.ADD_COLUMN)
        path = self._existing(path)
        if name in self._column_names(path):
            raise InvalidSelectionError(f"the table has a column {name!r} already")
        self._add_column(path, name)

    def _check_change(self, change: TableChange) -> None:
        if change in self.unsupported_changes:
            raise UnsupportedError(f"{self.label}, {change}: {self.unsupported_changes[change]}")

    def _checked_rows(self, path: str | os.PathLike[str], df: pd.DataFrame) -> Path:
        path = self._existing(path)
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

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        """Add checked rows."""
        raise NotImplementedError(_MUST_OVERRIDE + TableChange.APPEND)

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        """Replace the rows with the keys of checked rows."""
        raise NotImplementedError(_MUST_OVERRIDE + TableChange.UPDATE)

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        """Remove the rows with these keys."""
        raise NotImplementedError(_MUST_OVERRIDE + TableChange.DELETE)

    def _add_column(self, path: Path, name: str) -> None:
        """Add a column of floats, all null, whose name is new."""
        raise NotImplementedError(_MUST_OVERRIDE + TableChange.ADD_COLUMN)


ChangeableFormat = Changeable
"""Name until version 0.1."""
