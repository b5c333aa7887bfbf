"""Sums by event loops in C++ over ROOT's readers: base class of their adapters."""

from __future__ import annotations

import json
from abc import abstractmethod
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ColumnSums, Predicate
from adapter_core.column_batches import needed_columns
from adapter_core.predicate import BOOLEANS, NUMBERS
from adapter_core.tables.array_format import DESCRIPTION
from adapter_core.tables.arrays import array_names_of_numbers
from adapter_core.tables.root_native import NativeRoot, cpp_condition, opened, root

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


_LOOP_NUMBERS = count()

_FUNCTION = """
std::vector<double> FormatBenchLoop{number}(TFile &file)
{{
   double visited = 0, rows = 0, sums[{columns}] = {{}};
{opening}
   {{
      ++visited;
      if (!({condition}))
         continue;
      ++rows;
{additions}
   }}
   std::vector<double> found{{visited, rows}};
   found.insert(found.end(), std::begin(sums), std::end(sums));
   return found;
}}
"""


class EventLoop(NativeRoot):
    """A table of a ROOT file whose rows are visited one after the other, as an analysis in C++ does.

    The loop is written for the requested columns, and compiled by ROOT's interpreter at its first use in
    a process. In each row, conditions are read until one fails, and the other columns if none does.
    """

    language = "c++"

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        needed = needed_columns(columns, where)
        with opened(path) as file:
            table = json.loads(str(file.Get(DESCRIPTION).GetString()))
            described = table["columns"]
            names = array_names_of_numbers(described, needed)
            dtypes = {each["name"]: _numpy_dtype(each["dtype"]) for each in described}
            positions = {name: position for position, name in enumerate(needed)}
            fields = tuple((names[name], dtypes[name].str[1:]) for name in needed)
            condition = "true" if where is None else self._condition(where, positions, dtypes)
            loop = _compiled(self._opening(fields), condition, self._additions(positions, columns))
            visited, rows, *sums = loop(file)
        if visited != table["rows"]:
            raise ValueError(f"{path.name} ends after {visited:,.0f} of {table['rows']:,} rows")
        return ColumnSums(int(rows), dict(zip(columns, sums, strict=True)))

    def _condition(
        self, where: Predicate, positions: dict[str, int], dtypes: dict[str, np.dtype[Any]]
    ) -> str:
        return " && ".join(
            cpp_condition(
                each.fitted(
                    BOOLEANS if dtypes[each.column].kind == "b" else NUMBERS,
                    is_single=dtypes[each.column] == "float32",
                ),
                self._value(positions[each.column]),
            )
            for each in where.comparisons
        )

    def _additions(self, positions: dict[str, int], columns: list[str]) -> tuple[str, ...]:
        return tuple(f"sums[{i}] += {self._value(positions[name])};" for i, name in enumerate(columns))

    @abstractmethod
    def _opening(self, fields: tuple[tuple[str, str], ...]) -> str:
        """Return the C++ before the body of the loop.

        Parameters
        ----------
        fields : tuple of pairs
            Name of each needed branch or field, and NumPy's code of its type.
        """

    @abstractmethod
    def _value(self, position: int) -> str:
        """Return the expression of C++ for the value of a needed branch or field in the current row."""


def _numpy_dtype(name: str) -> np.dtype[Any]:
    import pandas as pd

    dtype: Any = pd.api.types.pandas_dtype(name)
    return getattr(dtype, "numpy_dtype", dtype)


@lru_cache
def _compiled(opening: str, condition: str, additions: tuple[str, ...]) -> Callable[[Any], Any]:
    number = next(_LOOP_NUMBERS)
    text = _FUNCTION.format(
        number=number,
        columns=len(additions),
        opening=opening,
        condition=condition,
        additions="\n".join(additions),
    )
    if not root().gInterpreter.Declare(text):
        raise RuntimeError(f"ROOT cannot compile\n{text}")
    return getattr(root(), f"FormatBenchLoop{number}")
