"""Columns of numbers, selected and added up, without a DataFrame."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import FormatBenchError, InvalidSelectionError

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.predicate import Predicate

Batch = Mapping[str, "np.ndarray"]
"""Arrays of shape (rows of the batch,) by the names of their columns."""

NUMBERS = "biuf"
"""NumPy's codes of the types that can be added up: booleans, integers and floats."""


class ColumnSums(NamedTuple):
    """Number of selected rows, and the sum of each column over these."""

    rows: int
    sums: dict[str, float]


def needed_columns(columns: Sequence[str], where: Predicate | None) -> list[str]:
    """Return the columns to read: the requested ones and the predicate's, each once."""
    return list(dict.fromkeys([*columns, *(where.columns if where else ())]))


def selected(
    batches: Iterable[Batch], columns: Sequence[str], where: Predicate | None
) -> dict[str, np.ndarray]:
    """Return the selected values of some columns, each of shape (selected rows,).

    Parameters
    ----------
    batches : iterable of mappings
        Batches with `needed_columns`.
    columns : sequence of str
        The columns to return.
    where : Predicate or None
        The condition of selected rows; None for all.
    """
    import numpy as np

    parts: dict[str, list[np.ndarray]] = {name: [] for name in columns}
    for batch, rows in _with_selected_rows(batches, where):
        for name, arrays in parts.items():
            arrays.append(batch[name] if rows is None else batch[name].take(rows))
    if not any(parts.values()):
        return {name: np.empty(0) for name in columns}
    return {name: np.concatenate(each) if len(each) > 1 else each[0] for name, each in parts.items()}


def sums_of(batches: Iterable[Batch], columns: Sequence[str], where: Predicate | None) -> ColumnSums:
    """Return the sums of some columns over the selected rows; for the parameters see `selected`."""
    import numpy as np

    count = 0
    sums: dict[str, list[float]] = {name: [] for name in columns}
    for batch, rows in _with_selected_rows(batches, where):
        count += len(batch[columns[0]]) if rows is None else len(rows)
        for name, parts in sums.items():
            values = batch[name] if rows is None else batch[name].take(rows)
            # In their own type, sums of short floats are rounded, and those of long integers overflow.
            parts.append(values.sum(dtype=np.float64).item())
    return ColumnSums(count, {name: _total(parts) for name, parts in sums.items()})


def _total(parts: list[float]) -> float:
    # `math.fsum` raises where the sum is none: of both infinities, or beyond all floats.
    total = sum(parts)
    return math.fsum(parts) if math.isfinite(total) else total


def _with_selected_rows(
    batches: Iterable[Batch], where: Predicate | None
) -> Iterator[tuple[Batch, np.ndarray | None]]:
    """Yield each batch with the positions of its selected rows; None for all.

    Raises
    ------
    InvalidSelectionError
        If a column contains anything but numbers, e.g. nulls as objects.
    """
    import numpy as np

    for batch in map(_checked, batches):
        # Positions, since they cost an array of values a sixth of the time that a mask costs.
        yield batch, None if where is None else np.flatnonzero(where.mask(batch))


def _checked(batch: Batch) -> Batch:
    import numpy as np

    others = [name for name, values in batch.items() if values.dtype.kind not in NUMBERS]
    for name in others:
        if len(batch[name]):
            raise InvalidSelectionError(f"column {name!r} contains more than numbers without nulls")
    # A format without types reads columns without values as objects.
    return {**batch, **{name: np.empty(0) for name in others}} if others else batch


class NumberReads(CodecChoice):
    """Reads and sums of columns of numbers, which any table format offers.

    By default they come from the whole columns. An adapter whose library reads arrays without a
    DataFrame, or adds up columns itself, overrides `_array_batches`, `_read_arrays` or `_sum_columns`.
    """

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
        path, names = self._existing(path), list(dict.fromkeys(columns))
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
        path, names = self._existing(path), list(dict.fromkeys(columns))
        with self._explained(path, names, where):
            return self._sum_columns(path, names, where)

    @contextmanager
    def _explained(self, path: Path, columns: list[str], where: Predicate | None) -> Iterator[None]:
        """Check the columns; raise `UnknownNameError` if a failure comes from an unknown name."""
        if not columns:
            raise InvalidSelectionError("at least one column is needed")
        try:
            yield
        except FormatBenchError:
            raise
        except Exception:
            with suppress(NotImplementedError):
                self._check_names(path, needed_columns(columns, where))
            raise

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        """Read the selected rows of some columns; by default `_array_batches`, joined."""
        return selected(self._array_batches(path, needed_columns(columns, where)), columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        """Add up the selected rows of some columns; by default from `_array_batches`."""
        return sums_of(self._array_batches(path, needed_columns(columns, where)), columns, where)

    @abstractmethod
    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        """Yield all rows of some columns as NumPy arrays; the columns may not exist."""

    @abstractmethod
    def _check_names(self, path: Path, columns: Sequence[str]) -> None:
        """Raise `UnknownNameError` for an unknown column."""
