"""Query to a saved table: conditions, columns, groups, aggregates, order, limit, join, as a small tree.

A query names no engine and no file. `adapter_core.query_sql` writes it as SQL, whose meaning it has in
every engine (decision 38):

- **Null** is a missing value: None, NA, NaT, and NaN in a column of floats, pandas' only null there.
- **Conditions** on a null are neither true nor false, ``!=`` included. Rows are selected for which all
  are true.
- **Numbers** compare by value: -0.0 equals 0.0, and infinities are beyond all others. **Decimals** are
  compared and added up exactly, their means are floats. **Texts** compare by code points; an empty text
  is not a null.
- **Groups**: all nulls are one group beside the others.
- **Aggregates** leave nulls out. Of no values ``count`` is 0, and all others are null. ``count`` without
  a column counts rows.
- **Order**: nulls come last, whether it ascends or descends.
- **Joins**: a null key has no partner.
- **Neighbours** of a vector are the rows whose vectors have the least Euclidean distances from it, of a
  point the rows whose geometries have them, in the units of their coordinates; a null is near to
  nothing, so there may be fewer rows than are asked for.
- **Geometries** intersect if they have a point in common, edges included; a null intersects none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from adapter_core.predicate import DATES, DECIMALS, TIMES, ZONED_TIMES, Comparison, Value

TABLE = "data"
"""Name of the table that a query is about."""

COUNT, SUM, LEAST, GREATEST, MEAN = "count", "sum", "min", "max", "avg"
"""Functions of aggregates, as SQL names them."""

ENDS = (LEAST, GREATEST)
"""Functions whose value is one of the column's, so that they are defined for texts and times, too."""

ZEROS = (0.0, -0.0)
"""Floats that are equal, and differ in a bit."""


class Field(str):
    """Name of a field of a record, as "record.field"; in the name of a column, a dot has no meaning."""

    __slots__ = ()


def path_of(name: str) -> list[str]:
    """Return the names that lead to a field, the column first, or the name of a column alone."""
    return name.split(".") if isinstance(name, Field) else [name]


def has_fields(names: Iterable[str]) -> bool:
    """Return whether some names are of fields of records."""
    return any(isinstance(each, Field) for each in names)


@dataclass(frozen=True)
class OneOf:
    """Condition that a column has one of some values; a null has none."""

    column: str
    values: Sequence[Value]
    """At least one, without nulls."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))

    @property
    def has_zero(self) -> bool:
        """True if a zero of floats is among the values."""
        return any(isinstance(each, float) and each == 0 for each in self.values)

    @property
    def with_both_zeros(self) -> tuple[Value, ...]:
        """The values, for engines that find floats by their bits: both zeros if one is among them."""
        if not self.has_zero:
            return tuple(self.values)
        return (*(each for each in self.values if each != 0 or isinstance(each, bool)), *ZEROS)


@dataclass(frozen=True)
class Contains:
    """Condition that a text contains another, case-sensitive."""

    column: str
    text: str
    """Letters and digits only, so that no engine takes any for a pattern."""

    def __post_init__(self) -> None:
        if not self.text.isalnum() or not self.text.isascii():
            raise ValueError(f"{self.text!r} is not made of letters and digits")


Condition = Comparison | OneOf | Contains


def constants_of(found: Condition) -> Sequence[Value]:
    """Return the values that a condition compares a column with, but for a text within others."""
    if isinstance(found, Contains):
        return ()
    return (found.value,) if isinstance(found, Comparison) else found.values


def by_total_order(where: Sequence[Condition]) -> list[Condition]:
    """Return equal conditions for engines to which -0.0 is less than 0.0, see `Comparison`."""
    return [other for each in where for other in _by_total_order(each)]


def _by_total_order(found: Condition) -> list[Condition]:
    if isinstance(found, OneOf):
        return [OneOf(found.column, found.with_both_zeros)]
    return [*found.by_total_order()] if isinstance(found, Comparison) else [found]


@dataclass(frozen=True)
class Aggregate:
    """A value computed from the values of a column that are not null, or the number of rows."""

    function: str
    """`COUNT`, `SUM`, `LEAST`, `GREATEST` or `MEAN`."""
    column: str = ""
    """A column of numbers or decimals, for `ENDS` also of texts or times, or for `COUNT` of any values;
    empty for the number of rows."""

    @property
    def name(self) -> str:
        """Name of the column of the answer, e.g. "sum_price"."""
        return f"{self.function}_{self.column or 'rows'}"


@dataclass(frozen=True)
class Order:
    """Order of the rows of an answer, nulls last."""

    column: str
    """A column of the answer, whose values differ unless it is the only one."""
    descending: bool = False


@dataclass(frozen=True)
class Join:
    """Inner join with a second table, with other column names than the first, but for geometries."""

    table: str
    """Name of the second table."""
    column: str
    """Column of the first table."""
    key: str
    """Column of the second table, whose values differ."""
    columns: Sequence[str]
    """The columns of the second table that the query uses besides."""
    intersects: bool = False
    """True to join rows whose geometries intersect, in place of rows with equal keys; both columns are
    geometries then."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))


@dataclass(frozen=True)
class Nearest:
    """The neighbours of vectors: of each vector so many rows, in any order, vector after vector."""

    column: str
    """A column of vectors of one length, or of geometries."""
    vectors: Sequence[Sequence[float]]
    """At least one, of the column's length; for geometries points."""
    count: int
    """Number of neighbours of each vector."""
    candidates: int = 1
    """Rows that a search by an index compares by their own vectors, for each neighbour; a scan compares
    all."""
    of_geometries: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", tuple(map(tuple, self.vectors)))


@dataclass(frozen=True)
class Box:
    """Condition that a geometry intersects a rectangle."""

    column: str
    bounds: tuple[float, float, float, float]
    """Least x and y, then greatest x and y."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question to a table, answered by a table.

    The answer has the columns, or the groups and then the aggregates, in this order. Its rows are in
    any order unless `order` is given.
    """

    columns: Sequence[str] = ()
    """Columns of the answer, or of its records a `Field`. Empty if there are aggregates."""
    where: Sequence[Condition] = ()
    """Conditions that all selected rows fulfil; nulls fulfil none."""
    positions: Sequence[int] = ()
    """Numbers of the selected rows, ascending from 0; not together with other conditions."""
    groups: Sequence[str] = ()
    """Columns by whose values rows are grouped; null is one of them."""
    aggregates: Sequence[Aggregate] = ()
    order: Order | None = None
    limit: int | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    """Types of the columns that are `computed`, see `adapter_core.predicate.contents_of`."""
    compares_singles: bool = False
    """True if conditions compare 32-bit floats with numbers that have other digits as 64-bit floats."""
    join: Join | None = None
    nearest: Nearest | None = None
    """Selects rows by their vectors; not together with other conditions."""
    box: Box | None = None
    """Selects rows by their geometries, together with `where`."""
    shape: bool = False
    """True for the number of rows and of columns, in this order, and nothing else."""
    statement: str = ""
    """SQL in place of all others, for engines that take it; tables have their names."""

    def __post_init__(self) -> None:
        for name in ("columns", "where", "positions", "groups", "aggregates"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        asked = bool(self.columns or self.aggregates), self.shape, bool(self.statement)
        if sum(asked) != 1:
            raise ValueError(
                "a query asks for columns, for aggregates, for the shape, or by a statement"
            )
        if self.columns and (self.groups or self.aggregates):
            raise ValueError("columns of a query with aggregates are its groups")
        if self.positions and self.where:
            raise ValueError("rows are selected by positions or by conditions")
        if (self.limit is None) != (self.order is None):
            raise ValueError("a limit needs an order, else any rows would do, and an order a limit")
        if self.nearest and (
            not self.columns or self.where or self.positions or self.order or self.join or self.box
        ):
            raise ValueError("neighbours have columns, and no conditions, positions, order or join")
        if self.groups and (self.order or not self.aggregates):
            raise ValueError("groups have aggregates, and no order")

    @property
    def asks_geometries(self) -> bool:
        """True if geometries select rows."""
        by_join = self.join is not None and self.join.intersects
        by_distance = self.nearest is not None and self.nearest.of_geometries
        return self.box is not None or by_join or by_distance

    @property
    def constants(self) -> list[Value]:
        """Values that conditions compare columns with, but for texts within others."""
        return [value for each in self.where for value in constants_of(each)]

    @property
    def compares_times(self) -> bool:
        """True if times or dates are compared, with constants or with each other."""
        with_dates = self.compares_dates or self.compares_zoned_times
        return self.computes(TIMES) or with_dates or self._has_constants(datetime)

    @property
    def compares_dates(self) -> bool:
        """True if dates are compared, with constants or with each other."""
        return self.computes(DATES) or self._has_constants(date)

    @property
    def compares_zoned_times(self) -> bool:
        """True if times with a time zone are compared, with constants or with each other."""
        zones = (getattr(each, "tzinfo", None) for each in self.constants)
        return self.computes(ZONED_TIMES) or any(zone is not None for zone in zones)

    @property
    def compares_decimals(self) -> bool:
        """True if decimals are compared, or added up."""
        return self.computes(DECIMALS) or self._has_constants(Decimal)

    def computes(self, contents: str) -> bool:
        """Return True if values of a type decide an order, or are computed with."""
        return contents in self.types.values()

    @property
    def has_long_decimals(self) -> bool:
        """True if a constant is a decimal of more digits than each float has."""
        decimals = (each for each in self.constants if isinstance(each, Decimal))
        return any(len(each.as_tuple().digits) > sys.float_info.dig for each in decimals)

    def _has_constants(self, of: type) -> bool:
        return any(type(each) is of for each in self.constants)

    @property
    def is_count(self) -> bool:
        """True for the number of all rows."""
        plain = not (self.where or self.groups or self.join or self.positions or self.box)
        return plain and self.aggregates == (Aggregate(COUNT),)

    @property
    def computed(self) -> set[str]:
        """Columns whose values decide an order, or are computed with, as a count of them is not."""
        found = {each.column for each in self.aggregates if each.function != COUNT}
        return found | ({self.order.column} if self.order else set())

    @property
    def needed(self) -> list[str]:
        """Columns that the answer is computed from, without columns that only conditions use."""
        used = [*self.columns, *self.groups, *(each.column for each in self.aggregates if each.column)]
        if self.order and not self.aggregates:
            used.append(self.order.column)
        if self.nearest:
            used.append(self.nearest.column)
        if self.join:
            used = [each for each in used if each not in self.join.columns]
            used.append(self.join.column)
        return list(dict.fromkeys(used))

    @property
    def compared(self) -> list[str]:
        """Columns of the conditions."""
        of_box = [self.box.column] if self.box else []
        return list(dict.fromkeys([*(each.column for each in self.where), *of_box]))

    @property
    def read(self) -> list[str]:
        """All columns of the table that the query reads."""
        return list(dict.fromkeys([*self.needed, *self.compared]))
