"""Tables to ask: columns by the parts that they play, and constants from their values."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison, UnsupportedError
from adapter_core.errors import InvalidSelectionError
from adapter_core.geometries import geometry_columns, middles
from adapter_core.kinds import Kind, kind_of_arrow, nested_array
from adapter_core.predicate import (
    DATES,
    DECIMAL_DIGITS,
    DECIMALS,
    NUMBERS,
    TEXT,
    TIMES,
    ZONED_TIMES,
    contents_of,
)
from adapter_core.query import (
    COUNT,
    ENDS,
    TABLE,
    Field,
    Query,
    constants_of,
    path_of,
)
from adapter_core.values import LARGEST_INT64, in_utc
from data_generator.random_words import RandomWords
from format_bench.results.display.text import joined

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core.query import Condition

LAYOUTS = Path(__file__).with_name("layouts.toml")

# As of the coordinates of maps: a centimetre.
_DECIMALS = 7

WHOLE = "*"
"""Name for all columns."""

# Contents of columns that have a least and a greatest value, an order, and ranges.
_ORDERED = {NUMBERS, DECIMALS, TEXT, TIMES, DATES, ZONED_TIMES}
# Contents of columns that have a sum and a mean.
_ADDED = {NUMBERS, DECIMALS}


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
    selecting = ("sorted", "clustered", "random", "lookup", "vector")
    found = [parts[name] for name in selecting if name in parts]
    is_ordered = "sorted" in parts or "clustered" in parts
    return (found[:1], list(dict.fromkeys(found[1:]))) if is_ordered else ([], found)


def _range_of_times(values: pd.Series | pd.Index) -> tuple[datetime, datetime]:
    """Return the least and the greatest time of 64-bit nanoseconds, or of all if values are beyond."""
    import pandas as pd

    zone = UTC if isinstance(values.dtype, pd.DatetimeTZDtype) else None
    low, high = pd.Timestamp.min.ceil("us"), pd.Timestamp.max.floor("us")
    ends = low.tz_localize(zone), high.tz_localize(zone)
    if values.min() < ends[0] or values.max() > ends[1]:
        return datetime.min.replace(tzinfo=zone), datetime.max.replace(tzinfo=zone)
    return ends[0].to_pydatetime(), ends[1].to_pydatetime()


def moment(value: Any, at: time) -> Any:
    """Return a date as that time of the day, and any other value as it is."""
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return datetime.combine(value, at) if is_day else value


class Subject:
    """A data set to ask, from whose values questions take their constants.

    The constants of a question depend on the values alone, so each engine gets the same ones.

    Parameters
    ----------
    name : str
        The data set.
    tables : mapping
        Its tables by name.
    layout : mapping
        Columns by the parts that they play.
    are_typed : bool
        False if the types of the columns are not known, so that constants stay as they are declared.
    constants : mapping
        Statements of SQL by the placeholders whose values they compute.
    """

    def __init__(
        self,
        name: str,
        tables: Mapping[str, pd.DataFrame],
        layout: Mapping[str, Any] | None = None,
        *,
        are_typed: bool = True,
        constants: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._tables, self._df = tables, next(iter(tables.values()))
        self._layout, self._are_typed = layout or {}, are_typed
        self._constants = constants or {}
        # Of objects, all values are looked at, and of times the ends; lists of constants ask for each.
        self._contents: dict[str, str] = {}
        self._ranges: dict[str, tuple[datetime, datetime]] = {}
        self._digits: dict[str, tuple[int, int]] = {}

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
            If there are very many of them, or records or vectors among them, so that whole rows are not
            asked for.
        """
        if {"wide", "field", "vector"} & self._layout.keys():
            raise UnsupportedError(f"whole rows of {self.name} are not asked for")
        return list(self._df.columns)

    @property
    def numbers(self) -> list[str]:
        """The names of the columns of numbers."""
        return [name for name in self._df.columns if self.contents(name) == NUMBERS]

    def column_or_field(self, name: str) -> str:
        """Return a name, as a `Field` if it has a dot and is not a column's."""
        return Field(name) if "." in name and name not in self._df.columns else name

    def part(self, name: str) -> Any:
        """Return the column, or the columns, that play a part; "*" are all.

        Raises
        ------
        UnsupportedError
            If the data set lacks it.
        """
        if name not in self._layout:
            raise UnsupportedError(f"the data set {self.name} has no column for the part {name!r}")
        found = self._layout[name]
        return list(self._df.columns) if found == WHOLE else found

    @cached_property
    def _values(self) -> dict[str, str]:
        """The values of the constants by placeholder."""
        from format_bench.families.tables import reference

        return {
            name: str(reference.answer(Query(statement=each), self._tables).table.column(0)[0])
            for name, each in self._constants.items()
        }

    def filled(self, statement: str) -> str:
        """Return a statement of SQL with the values of its placeholders."""
        for name in self._constants:
            if f"{{{name}}}" in statement:
                statement = statement.replace(f"{{{name}}}", self._values[name])
        return statement

    def contents(self, column: str) -> str:
        """Return the type of a column, see `adapter_core.predicate.contents_of`."""
        if column not in self._contents:
            self._contents[column] = contents_of(self._column(column))
        return self._contents[column]

    def types(self, names: Collection[str]) -> dict[str, str]:
        """Return the types of the columns among some names."""
        return {name: self.contents(name) for name in self._df.columns if name in names}

    def fitted(self, comparison: Comparison) -> Comparison:
        """Return a comparison for the type of its column: libraries compare numbers, and times, of one.

        Raises
        ------
        InvalidSelectionError
            If the column cannot be compared with the constant.
        """
        import numpy as np

        contents, values = self.contents(comparison.column), self._comparable(comparison.column)
        dtype = getattr(values.dtype, "numpy_dtype", values.dtype)
        is_single = dtype == np.float32
        if contents == TIMES and isinstance(comparison.value, date):
            comparison = replace(comparison, value=moment(comparison.value, time.min))
        if (contents, comparison.type) == (DATES, TIMES):
            comparison = comparison.among_dates()
        if contents == DECIMALS and comparison.type in {NUMBERS, DECIMALS}:
            comparison = self._among_decimals(comparison, values)
        found = comparison.fitted(contents, is_single=is_single)
        if found.type not in {NUMBERS, TIMES, ZONED_TIMES} or not self._are_typed or is_single:
            return found
        if found.type in {TIMES, ZONED_TIMES}:
            return self._among_times(found, values)
        if dtype.kind == "f":
            return replace(found, value=found.number)
        limits = np.iinfo(dtype)
        return found.among_integers(int(limits.min), min(int(limits.max), LARGEST_INT64))

    def compares_singles(self, condition: Condition) -> bool:
        """Return True if 32-bit floats are compared with numbers that have other digits with 64 bits."""
        import numpy as np

        dtype = self._comparable(condition.column).dtype
        if getattr(dtype, "numpy_dtype", dtype) != np.float32:
            return False
        numbers = (each for each in constants_of(condition) if isinstance(each, int | float))
        return any(float(str(np.float32(each))) != each for each in numbers)

    def _comparable(self, column: str) -> pd.Series | pd.Index:
        """Return the values of a column, or its categories."""
        found = self._column(column)
        return found.cat.categories if hasattr(found, "cat") else found

    def _among_times(self, comparison: Comparison, values: pd.Series | pd.Index) -> Comparison:
        """Return a comparison with a time for the unit, the range and the zone of its column."""
        import numpy as np

        if comparison.column not in self._ranges:
            self._ranges[comparison.column] = _range_of_times(values)
        ends, dtype = self._ranges[comparison.column], values.dtype
        if comparison.type == TIMES:
            return comparison.among_times(np.datetime_data(dtype)[0], *ends)
        # Arrow compares times of one zone alone.
        return comparison.among_times(dtype.unit, *ends).in_zone(dtype.tz)

    def _among_decimals(self, comparison: Comparison, values: pd.Series | pd.Index) -> Comparison:
        """Return a comparison with a decimal of the type of its column.

        Raises
        ------
        InvalidSelectionError
            If the constant is infinite, or the column's values have more than 38 digits.
        """
        import pyarrow as pa

        name = comparison.column
        if comparison.type == NUMBERS and math.isinf(comparison.number):
            raise InvalidSelectionError(f"column {name!r} contains decimals, which are never infinite")
        if name not in self._digits:
            arrow = pa.array(values, from_pandas=True).type
            self._digits[name] = arrow.precision, arrow.scale
        if self._digits[name][0] > DECIMAL_DIGITS:
            raise InvalidSelectionError(
                f"column {name!r} contains decimals of more than {DECIMAL_DIGITS} digits"
            )
        return comparison.among_decimals(*self._digits[name])

    def between(self, column: str, share: float) -> list[Comparison]:
        """Return the conditions for a share of the rows, by a range in the middle of a column.

        Equal values are selected together, so more rows than the share may fulfil them.
        """
        import numpy as np

        values = self._valid(column)
        if (contents := self.contents(column)) not in _ORDERED:
            raise ValueError(f"column {column!r} contains {contents}, which have no ranges")
        wanted = min(len(values), max(1, round(share * len(values))))
        first = (len(values) - wanted) // 2
        ordered = np.partition(values, [first, first + wanted - 1])
        low, high = ordered[first], ordered[first + wanted - 1]
        if values.dtype == np.dtype("datetime64[ns]"):
            # Constants are in microseconds: the ones around the range.
            low, high = (
                each.astype("datetime64[us]") for each in (low, high + np.timedelta64(999, "ns"))
            )
        ends = ((">=", low), ("<=", high))
        found = [Comparison(column, each, self._constant(column, end)) for each, end in ends]
        return [self.fitted(each) for each in found[: 1 if share == 1 else 2]]

    def value(self, column: str, place: float) -> Any:
        """Return the value of a column at a place from 0, the first row, to 1."""
        values = self._valid(column)
        return self._constant(column, values[min(len(values) - 1, int(place * len(values)))])

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

    def vector_length(self, column: str) -> int:
        """Return the length of the vectors of a column.

        Raises
        ------
        ValueError
            If they are of several lengths, or contain nulls.
        UnsupportedError
            If one of them is null.
        """
        rows = nested_array(self._column(column))
        if rows is None or kind_of_arrow(rows.type) is not Kind.VECTOR or rows.flatten().null_count:
            raise ValueError(f"column {column!r} contains no vectors of one length, or nulls in them")
        if rows.null_count:
            raise UnsupportedError(f"column {column!r} contains nulls, which are near to nothing")
        return int(rows.type.list_size)

    def vectors(self, column: str, count: int) -> list[list[float]]:
        """Return vectors between two random rows' each, nearer to one of them, so that none is a row's.

        Raises
        ------
        UnsupportedError
            If the table has too few rows.
        """
        import numpy as np

        rows = nested_array(self._column(column).iloc[self._pairs(count)])
        found = rows.flatten().to_numpy().astype(np.float32).reshape(2, count, -1)
        mixed = np.float32(0.75) * found[0] + np.float32(0.25) * found[1]
        return [[float(each) for each in vector] for vector in mixed]

    def _pairs(self, count: int) -> list[int]:
        """Return the numbers of random rows in pairs, the first of all pairs before the second."""
        places = self.positions(2 * count)
        return places[::2] + places[1::2]

    def has_geometries(self, column: str) -> bool:
        """Return whether a column contains geometries, and at most nulls besides."""
        found = self._column(column)
        return found.dtype == object and column in geometry_columns(found.to_frame())

    def points(self, column: str, count: int) -> list[list[float]]:
        """Return points between two random rows' geometries each, nearer to one of them.

        Raises
        ------
        UnsupportedError
            If the table has too few rows, or a geometry has no place.
        """
        rows = self.middles(column)[self._pairs(count)]
        mixed = 0.75 * rows[:count] + 0.25 * rows[count:]
        found: list[list[float]] = mixed.round(_DECIMALS).tolist()
        return found

    def middles(self, column: str) -> np.ndarray:
        """Return the middles of the geometries of a column, shape (rows, 2).

        Raises
        ------
        UnsupportedError
            If one of them is null or empty.
        """
        import numpy as np

        found = middles(self._column(column))
        if np.isnan(found).any():
            raise UnsupportedError(
                f"column {column!r} contains nulls or empty geometries, which are near to nothing"
            )
        return found

    def bounds(self, column: str, share: float) -> tuple[float, float, float, float]:
        """Return a square around the middle of a random row's geometry, for a share of the rows.

        The middles of so many rows are inside; the geometries of others may intersect it, too.

        Raises
        ------
        UnsupportedError
            If a geometry has no place.
        """
        import numpy as np

        rows = self.middles(column)
        centre = rows[self.positions(1)[0]]
        wanted = min(self.rows, max(1, round(share * self.rows)))
        distances = np.abs(rows - centre).max(axis=1)
        # Not on the edge, so that rounding does not decide.
        reach = float(np.partition(distances, wanted - 1)[wanted - 1]) + 10.0**-_DECIMALS
        x, y = map(float, centre)
        left, lower, right, upper = (
            round(each, _DECIMALS + 1) for each in (x - reach, y - reach, x + reach, y + reach)
        )
        return left, lower, right, upper

    def values_at(self, column: str, positions: list[int]) -> list[Any]:
        """Return the values of a column in some rows."""
        values = in_utc(self._column(column).iloc[positions].dropna()).to_numpy()
        if not len(values):
            raise UnsupportedError(f"column {column} of {self.name} has no values in these rows")
        if self.contents(column) in {TIMES, ZONED_TIMES, DECIMALS}:
            found = [Comparison(column, "==", self._constant(column, each)) for each in values]
            return [self.fitted(each).value for each in found]
        return [self._constant(column, each) for each in values.tolist()]

    def check(self, query: Query) -> None:
        """Check that a query fits the columns, and that their values allow one answer alone.

        Raises
        ------
        ValueError
            If there is no such column, row or table, or a column of another type.
        UnsupportedError
            If libraries would answer differently, and be right.
        """
        if TABLE not in self._tables:
            raise ValueError(f"{self.name} has the tables {joined(self._tables)}; ask it by sql")
        if query.join and query.join.table not in self._tables:
            raise ValueError(
                f"there is no table {query.join.table!r} to join; {self.name} has one table"
            )
        check_columns(query, list(self._df.columns))
        if query.positions and query.positions[-1] >= self.rows:
            raise UnsupportedError(
                f"there is no row {query.positions[-1]:,}; {self.name} has {self.rows:,} rows"
            )
        self._check_contents(query)
        if query.order and query.columns != (query.order.column,):
            self._check_first(query)

    def _check_contents(self, query: Query) -> None:
        """Raise `ValueError` if a column has values that are not grouped, aggregated or ordered."""
        for name in query.groups:
            if name in self._df.columns and nested_array(self._df[name]) is not None:
                raise ValueError(f"group {name!r} contains lists or records, which make no groups")
        for each in query.aggregates:
            if not each.column or each.function == COUNT:
                continue
            contents = self.contents(each.column)
            if contents not in (_ORDERED if each.function in ENDS else _ADDED):
                raise ValueError(f"{each.function} of {each.column!r}, which contains {contents}")
        if query.order and (contents := self.contents(query.order.column)) not in _ORDERED:
            name = query.order.column
            raise ValueError(
                f"order {name!r} contains {contents}, and not numbers, texts, times or dates"
            )

    def _check_first(self, query: Query) -> None:
        """Raise `UnsupportedError` if the values that decide the first rows are not all different."""
        from format_bench.families.tables.reference import selected

        if query.order is None or query.limit is None:
            return
        column, count = query.order.column, query.limit
        values = self._df[column].iloc[selected(self._df, query)]
        way = not query.order.descending
        first = values.sort_values(ascending=way, na_position="last").head(count + 1)
        if first.duplicated().any():
            which = "largest" if query.order.descending else "smallest"
            raise UnsupportedError(
                f"the {which} values of {column} in {self.name} are not all different"
            )

    def _column(self, name: str) -> pd.Series:
        if name not in self._df.columns:
            raise ValueError(_lacking([name], list(self._df.columns)))
        return self._df[name]

    def _valid(self, column: str) -> np.ndarray:
        values = in_utc(self._column(column).dropna()).to_numpy()
        if not len(values):
            raise UnsupportedError(
                f"column {column} of {self.name} has no values to take constants from"
            )
        return values

    def _constant(self, column: str, value: Any) -> Any:
        """Return a value of a column, a time in UTC, as a constant, which has microseconds.

        Raises
        ------
        UnsupportedError
            If it is a time between two microseconds, or an integer beyond 63 bits.
        """
        import numpy as np

        if isinstance(value, int | np.integer) and value > LARGEST_INT64:
            reason = f"{value:,} in column {column} is beyond 63 bits, and libraries take it for another"
            raise UnsupportedError(reason)
        if not isinstance(value, np.datetime64):
            return value
        found = value.astype("datetime64[us]")
        if found != value:
            raise UnsupportedError(f"the time {value} has nanoseconds, which constants do not have")
        zone = UTC if self.contents(column) == ZONED_TIMES else None
        return found.item().replace(tzinfo=zone)


def check_columns(query: Query, names: Sequence[str]) -> None:
    """Raise `ValueError` if a table with columns of these names lacks one that a query reads."""
    known = {*names, *(query.join.columns if query.join else ())}
    read = list(dict.fromkeys([*query.read, *query.groups]))
    if missing := [each for each in read if path_of(each)[0] not in known]:
        raise ValueError(_lacking(missing, names))
    if joined_ones := [each for each in query.compared if each not in names]:
        raise ValueError(f"{joined_ones[0]!r} is of the joined table; conditions are on the first one")


def _lacking(missing: Sequence[str], names: Sequence[str]) -> str:
    near = difflib.get_close_matches(missing[0], names, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"it has {joined(names)}"
    what = "column" if len(missing) == 1 else "columns"
    return f"the table has no {what} {joined(missing)}; {advice}"
