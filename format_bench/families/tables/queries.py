"""Queries to tables: sums of columns over selected rows, as analysis.toml declares them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import UnsupportedError
from adapter_core.errors import WrongValuesError
from adapter_core.predicate import Comparison, Predicate
from format_bench.display.text import joined, plural
from format_bench.families.operations import OpenQuery
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

    from adapter_core import DataFormat
    from adapter_core.column_batches import ColumnSums

DECLARATIONS = Path(__file__).with_name("analysis.toml")

TOLERANCE = 1e-9
"""Largest difference of two sums, as a share of the sum of absolute values.

Engines add in different orders. Adding n numbers one after the other has an error of at most n - 1 times
2**-53 of that sum (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2): 1e-9 for
9 million.
"""


@dataclass(frozen=True)
class Query:
    """Sums of some columns, over the rows that a predicate selects."""

    name: str
    description: str
    columns: tuple[str, ...]
    """The columns to add up; all of the table if empty."""
    where: Predicate | None
    """Selects the rows; all if None."""

    @property
    def heading(self) -> str:
        """Empty: each query is a question of its own."""
        return ""

    def columns_of(self, names: Sequence[str]) -> list[str]:
        """Return the columns that the query adds up in a table with columns of these names."""
        return list(self.columns or names)

    def check(self, names: Sequence[str]) -> None:
        """Raise `UnsupportedError` if a table lacks a column that the query reads."""
        read = [*self.columns, *(self.where.columns if self.where else ())]
        missing = [name for name in dict.fromkeys(read) if name not in names]
        if missing:
            raise UnsupportedError(
                f"{self.name} reads {joined(missing)}, and the table has no such columns"
            )

    def __str__(self) -> str:
        """Return the query in words."""
        return self.description


@cache
def queries() -> dict[str, Query]:
    """Return all declared queries by name, in order."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))["queries"]
    return {each["name"]: _query(**each) for each in declared}


def _query(
    name: str, words: str, columns: Sequence[str] = (), where: Sequence[dict[str, Any]] = ()
) -> Query:
    comparisons = tuple(Comparison(**each) for each in where)
    return Query(name, words, tuple(columns), Predicate(comparisons) if comparisons else None)


class TableQuery(OpenQuery):
    """A query to a saved table.

    Parameters
    ----------
    adapter : DataFormat
        The format of the file.
    file : Path
        The file, or directory; each answer opens it anew.
    query : Query
        A query that applies.
    columns : list of str
        The names of the columns that it adds up.
    """

    def __init__(self, adapter: DataFormat, file: Path, query: Query, columns: list[str]) -> None:
        self._adapter, self._file, self._query, self._columns = adapter, file, query, columns

    def read(self) -> ColumnSums:
        """Return the number of selected rows, and the sums of the columns."""
        return self._adapter.sum_columns(self._file, self._columns, self._query.where)

    def verify(self, answer: ColumnSums, data: pd.DataFrame) -> str:
        """Compare the sums with NumPy's on the data within `TOLERANCE`, the number of rows exactly.

        Raises
        ------
        WrongValuesError
            If they differ.
        """
        selected = _selected(data, self._query.where)
        rows = len(data) if selected is None else int(selected.sum())
        if answer.rows != rows:
            raise WrongValuesError(f"{WRONG}{answer.rows:,} rows instead of {rows:,}")
        for name in self._columns:
            values = data[name].to_numpy()
            values = values.astype("float64") if selected is None else values[selected].astype("float64")
            wanted, found = float(values.sum()), answer.sums[name]
            if not abs(found - wanted) <= TOLERANCE * float(abs(values).sum()):
                raise WrongValuesError(f"{WRONG}the sum of {name} is {found!r} instead of {wanted!r}")
        return f"{rows:,} rows, {plural(len(self._columns), 'sum')} equal to NumPy's"

    def close(self) -> None:
        """Do nothing: each answer has opened the file and closed it."""


def _selected(data: pd.DataFrame, where: Predicate | None) -> np.ndarray | None:
    """Return a mask of the selected rows; None if all are."""
    if where is None:
        return None
    return where.mask({name: data[name].to_numpy() for name in where.columns})
