"""Tables to ask: the parts that their columns play in questions, and constants from their values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison, UnsupportedError
from adapter_core.query import TABLE
from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

LAYOUTS = Path(__file__).with_name("layouts.toml")


@cache
def layouts() -> dict[str, dict[str, Any]]:
    """Return the declared parts of columns by data set, in order."""
    return tomllib.loads(LAYOUTS.read_text(encoding="utf-8"))


def tuning_keys(dataset: str) -> tuple[list[str], list[str]]:
    """Return the sort key and the lookup columns of the tuned files of a data set.

    They are its columns by which questions select; the key is empty if there is none that rows could be
    sorted by.
    """
    parts = layouts().get(dataset, {})
    found = [parts[name] for name in ("sorted", "clustered", "random", "lookup") if name in parts]
    is_ordered = "sorted" in parts or "clustered" in parts
    return (found[:1], list(dict.fromkeys(found[1:]))) if is_ordered else ([], found)


class Subject:
    """A data set to ask, from whose values questions take their constants.

    The constants of a question depend on the values alone, so each engine gets the same ones.

    Parameters
    ----------
    name : str
        The data set.
    tables : mapping
        Its tables by name.
    """

    def __init__(self, name: str, tables: Mapping[str, pd.DataFrame]) -> None:
        self.name = name
        self._df = tables[TABLE]
        self._layout = layouts().get(name, {})

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._df)

    @property
    def names(self) -> list[str]:
        """The names of all columns.

        Raises
        ------
        UnsupportedError
            If there are very many of them, or records among them, so that whole rows are not asked for.
        """
        if "wide" in self._layout or "field" in self._layout:
            raise UnsupportedError(f"whole rows of {self.name} are not asked for")
        return list(self._df.columns)

    def part(self, name: str) -> Any:
        """Return the column, or the columns, that play a part.

        Raises
        ------
        UnsupportedError
            If the data set lacks it.
        """
        if name not in self._layout:
            raise UnsupportedError(f"the data set {self.name} has no column for the part {name!r}")
        return self._layout[name]

    def between(self, part: str, share: float) -> list[Comparison]:
        """Return the conditions for a share of the rows, by a range in the middle of a column.

        Equal values are selected together, so more rows than the share may fulfil them.
        """
        import numpy as np

        column = self.part(part)
        values = self._valid(column)
        if share == 1:
            return [Comparison(column, ">=", values.min())]
        wanted = min(len(values), max(1, round(share * len(values))))
        first = (len(values) - wanted) // 2
        ordered = np.partition(values, [first, first + wanted - 1])
        low, high = ordered[first], ordered[first + wanted - 1]
        return [Comparison(column, ">=", low), Comparison(column, "<=", high)]

    def value(self, part: str, place: float = 0.6) -> Any:
        """Return the value of a column at a place from 0, the first row, to 1."""
        values = self._valid(self.part(part))
        return values[min(len(values) - 1, int(place * len(values)))]

    def positions(self, count: int) -> list[int]:
        """Return the numbers of random rows, ascending and without doubles.

        Raises
        ------
        UnsupportedError
            If the table has fewer rows.
        """
        import numpy as np

        if count > self.rows:
            raise UnsupportedError(f"{self.name} has {self.rows:,} rows, fewer than {count:,}")
        # By their keys: the first numbers of a random order.
        keys = RandomWords("positions", self.name, count).words(self.rows)
        chosen = np.argpartition(keys, count - 1)[:count]
        return sorted(chosen.tolist())

    def values_at(self, part: str, positions: list[int]) -> list[Any]:
        """Return the values of a column in some rows."""
        found: list[Any] = self._df[self.part(part)].iloc[positions].tolist()
        return found

    def check_top(self, column: str, count: int) -> None:
        """Raise `UnsupportedError` if the largest values of a column are not all different."""
        largest = self._df[column].nlargest(count + 1)
        if largest.nunique() <= count:
            raise UnsupportedError(
                f"the largest values of {column} in {self.name} are not all different"
            )

    def _valid(self, column: str) -> np.ndarray:
        return self._df[column].dropna().to_numpy()
