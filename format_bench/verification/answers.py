"""Comparison of answers to queries: of columns by position, whatever types an engine has.

Integers, booleans and decimals compare exactly, also with whole floats; texts of all types and
dictionaries as texts; times, dates and time spans of all units as numbers, also those that an engine has
found in texts, or left in them (CSV has no types); floats that are computed within `TOLERANCE`, decimals
with floats, too: sums of 100,000 floats differ between engines by up to 2e-14 of them, since they add in
different orders. NaN is not a null here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from format_bench.verification.numbers import differing_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_DAY_NANOSECONDS = 24 * 3600 * 10**9

# The most that Arrow has of a decimal.
_DIGITS = 76

# Bits of a float that decide the order of rows, as many as floats of 32 bits have.
_BITS = 24

# Largest difference of two floats, as a share of them: eleven significant digits are equal.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Answer:
    """The right answer to a question."""

    table: pa.Table
    rounding: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Differences that count as none, of the columns that libraries may round, by name."""
    order: Sequence[str] = ()
    """Keys that decide the order of the rows: names of columns, their numbers from 1, or others."""
    is_statement: bool = False
    """Whether a statement of SQL asked for it, whose decimals have the digits of an engine's rules."""
    group_rows: int = 0
    """Rows of a group within which they have no order, of an answer in groups; 0 of any other."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    @property
    def keys(self) -> list[int]:
        """The positions of the columns that decide the order; empty if others decide it, too."""
        names = [name.lower() for name in self.table.column_names]
        numbers = {str(place + 1): place for place in range(len(names))}
        places = numbers | {name: place for place, name in reversed([*enumerate(names)])}
        found = [places.get(each.rpartition(".")[2].strip('"').lower()) for each in self.order]
        return [] if None in found else [each for each in found if each is not None]


@dataclass(frozen=True)
class _Column:
    """Values of a column, in the type that they are compared in."""

    values: Any
    """Array of NumPy, int64 or float64, with 0 for nulls, or texts of Arrow."""
    nulls: np.ndarray
    """True for nulls, shape (rows,)."""
    rounding: Any = 0.0
    """Differences that count as none."""
    is_single: bool = False
    """Whether the values have 32 bits, which decimals in texts are rounded to."""

    @property
    def is_text(self) -> bool:
        return not hasattr(self.values, "dtype")

    @property
    def is_float(self) -> bool:
        return not self.is_text and self.values.dtype.kind == "f"


def difference(
    found: pa.Table,
    answer: Answer,
    *,
    absolute: float = 0.0,
    tolerance: float = TOLERANCE,
) -> str:
    """Return the first difference of an answer from the reference; empty if they are equal.

    Parameters
    ----------
    found : pyarrow.Table
        The answer of an engine.
    answer : Answer
        The reference. If it has an order, rows have to be in the same one, but for rows that are equal
        in all columns that decide it; else any order is right.
    absolute : float
        Difference of two floats that counts as none, of formats that round decimals, unless the one
        wanted is nearer to zero.
    tolerance : float
        Share of a float that counts as no difference; 0 for values that nothing is computed from.
    """
    from pyarrow import types

    wanted = answer.table
    if found.num_rows != wanted.num_rows or found.num_columns != wanted.num_columns:
        return f"{_shape(found)} instead of {_shape(wanted)}"
    found, wanted = _with_times_of(wanted, found), _with_times_of(found, wanted)
    found, wanted = _with_digits(found, wanted), _with_digits(wanted, found)
    own = [_normal_column(each) for each in found.columns]
    right = [
        replace(
            _normal_column(wanted.column(place)),
            rounding=_last_digit(found.column(place).type, wanted.column(place).type)
            if answer.is_statement
            else answer.rounding.get(name, 0.0),
            is_single=types.is_float32(wanted.column(place).type),
        )
        for place, name in enumerate(wanted.column_names)
    ]
    allowed = tolerance, absolute
    differing = _first_difference(own, right, allowed)
    if differing is not None and _may_change_places(answer, own, right, allowed):
        differing = _first_difference(_sorted(own, right), _sorted(right, right), allowed)
    if differing is None:
        return ""
    name = f"column {differing + 1}, {answer.table.column_names[differing]},"
    kinds = found.column(differing).type, wanted.column(differing).type
    if types.is_temporal(kinds[0]) != types.is_temporal(kinds[1]):
        return f"values of {name} differ: {kinds[0]} in place of {kinds[1]}"
    if wanted.num_rows != 1:
        return f"values of {name} differ"
    return f"{name} is {found.column(differing)[0]} instead of {wanted.column(differing)[0]}"


def _last_digit(found: pa.DataType, wanted: pa.DataType) -> float:
    """Return the value of the last digit of decimals in place of floats, as of means; 0 of others."""
    from pyarrow import types

    return 10.0**-found.scale if types.is_decimal(found) and types.is_floating(wanted) else 0.0


def missed_share(found: pa.Table, answer: Answer) -> float:
    """Return the share of the rows of an answer in groups that another one lacks in their group.

    Raises
    ------
    ValueError
        If the other one has another number of rows or columns, or a row twice in a group.
    """
    wanted = answer.table
    if found.num_rows != wanted.num_rows or found.num_columns != wanted.num_columns:
        raise ValueError(f"{_shape(found)} instead of {_shape(wanted)}")
    missed = 0
    for first in range(0, wanted.num_rows, answer.group_rows):
        own, right = (
            {*zip(*(each.to_pylist() for each in part.columns), strict=True)}
            for part in (each.slice(first, answer.group_rows) for each in (found, wanted))
        )
        if len(own) < len(right):
            raise ValueError(f"a row is there twice among the {answer.group_rows} from {first} on")
        missed += len(right - own)
    return missed / max(1, wanted.num_rows)


def _may_change_places(
    answer: Answer, own: list[_Column], right: list[_Column], allowed: tuple[float, float]
) -> bool:
    """Return True if the order decides nothing beyond the columns that decide it."""
    if not answer.order:
        return True
    deciding = [(own[place], right[place]) for place in answer.keys]
    return bool(deciding) and all(_equal(*each, *allowed) for each in deciding)


def _shape(table: pa.Table) -> str:
    return f"{table.num_rows:,} rows of {table.num_columns} columns"


def _with_times_of(found: pa.Table, wanted: pa.Table) -> pa.Table:
    """Return a table with times for texts that are times, where another one has times or dates.

    Time spans in texts are those of pandas, or of ISO 8601.
    """
    import pyarrow as pa
    from pyarrow import types

    for place, column in enumerate(found.columns):
        reference = wanted.column(place)
        is_text = types.is_string(reference.type) or types.is_large_string(reference.type)
        is_time = types.is_timestamp(column.type) or types.is_date(column.type)
        if is_text and types.is_duration(column.type):
            with contextlib.suppress(ValueError):
                spans = pa.array(reference.to_pandas().astype("timedelta64[ns]"))
                wanted = wanted.set_column(place, wanted.column_names[place], spans)
        if not is_text or not is_time:
            continue
        zone = getattr(column.type, "tz", None) and "UTC"
        for unit in ("ns", "us"):
            with contextlib.suppress(pa.ArrowInvalid):
                times = reference.cast(pa.timestamp(unit, zone))
                wanted = wanted.set_column(place, wanted.column_names[place], times)
                break
    return wanted


def _with_digits(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return a table with texts of as many digits for decimals, where another one has decimals, too."""
    import pyarrow as pa
    from pyarrow import types

    for place, column in enumerate(table.columns):
        kinds = column.type, other.column(place).type
        if all(map(types.is_decimal, kinds)):
            digits = pa.decimal256(_DIGITS, max(each.scale for each in kinds))
            text = column.cast(digits).cast(pa.large_string())
            table = table.set_column(place, table.column_names[place], text)
    return table


def _normal_column(column: pa.ChunkedArray) -> _Column:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    nulls = column.is_null().to_numpy()
    if nulls.all():
        # Of values that are all null, an engine may have lost the type.
        return _Column(np.zeros(len(column)), nulls)
    if types.is_temporal(column.type):
        column = _as_numbers(column)
    arrow = column.type
    if types.is_boolean(arrow) or types.is_integer(arrow) or types.is_decimal(arrow):
        is_whole = not types.is_decimal(arrow) or arrow.scale == 0
        try:
            column = column.cast(pa.int64() if is_whole else pa.float64())
        except pa.ArrowInvalid:
            # Beyond 64 bits with a sign, digits are compared.
            return _Column(column.cast(pa.large_string()).combine_chunks(), nulls)
    if types.is_integer(column.type) or types.is_floating(column.type):
        column = column.cast(pa.float64()) if types.is_floating(column.type) else column
        values = pc.if_else(pa.chunked_array([nulls]), pa.scalar(0, column.type), column).to_numpy()
        return _Column(values, nulls)
    if types.is_nested(arrow):
        # Types of lists differ between engines, and their values do not.
        texts = [None if each is None else repr(each) for each in column.to_pylist()]
        return _Column(pa.array(texts, pa.large_string()), nulls)
    if types.is_binary(arrow) or types.is_large_binary(arrow):
        column = column.cast(pa.large_binary())
    # Bytes need not be text.
    return _Column(column.cast(pa.large_string(), safe=False).combine_chunks(), nulls)


def _as_numbers(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return times, times of day or time spans as nanoseconds, or microseconds if these do not fit."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_interval(times.type):
        spans = [each and _nanoseconds(*each) for each in times.to_pylist()]
        return pa.chunked_array([pa.array(spans, pa.int64())])
    if types.is_time(times.type):
        return times.cast(pa.time64("ns")).cast(pa.int64())
    of = (
        pa.duration
        if types.is_duration(times.type)
        else partial(pa.timestamp, tz=getattr(times.type, "tz", None))
    )
    try:
        return times.cast(of("ns")).cast(pa.int64())
    except pa.ArrowInvalid:
        return times.cast(of("us"), safe=False).cast(pa.int64())


def _nanoseconds(months: int, days: int, nanoseconds: int) -> int:
    """Return an interval as a time span, with months of 30 days, as databases compare them."""
    return nanoseconds + (days + 30 * months) * _DAY_NANOSECONDS


def _first_difference(
    own: list[_Column], right: list[_Column], allowed: tuple[float, float]
) -> int | None:
    """Return the position of the first column that differs; None if none does."""
    for position, (found, wanted) in enumerate(zip(own, right, strict=True)):
        if not _equal(found, wanted, *allowed):
            return position
    return None


def _equal(found: _Column, wanted: _Column, tolerance: float, absolute: float) -> bool:
    import numpy as np

    if not np.array_equal(found.nulls, wanted.nulls):
        return False
    if wanted.nulls.all():
        return True
    if found.is_text or wanted.is_text:
        return found.is_text and wanted.is_text and bool(found.values.equals(wanted.values))
    if not wanted.is_float:
        wrong = differing_numbers(wanted.values, found.values)
        return wrong is not None and not wrong.any()
    right = wanted.values
    if wanted.is_single:
        tolerance = max(tolerance, float(np.finfo(np.float32).eps))
    # A value nearer to zero would be equal to others of any sign.
    allowed = np.where(np.abs(right) >= absolute, absolute, 0.0) + wanted.rounding
    return bool(np.isclose(found.values, right, rtol=tolerance, atol=allowed, equal_nan=True).all())


def _sorted(columns: list[_Column], like: list[_Column]) -> list[_Column]:
    """Return the columns with their rows in order of all values, the reference's floats last.

    Floats that differ by rounding alone could change the order of rows that they decide.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    floats = [each.is_float for each in like]
    keys = sorted(range(len(columns)), key=floats.__getitem__)
    rounded = [
        _rounded(each) if is_float else _arrow(each)
        for each, is_float in zip(columns, floats, strict=True)
    ]
    table = pa.table({str(place): each for place, each in enumerate(rounded)})
    order = pc.sort_indices(table, sort_keys=[(str(place), "ascending") for place in keys])
    rows = order.to_numpy()
    return [
        _Column(
            each.values.take(order if each.is_text else rows),
            each.nulls[rows],
            each.rounding[rows] if hasattr(each.rounding, "shape") else each.rounding,
            each.is_single,
        )
        for each in columns
    ]


def _arrow(column: _Column) -> pa.Array:
    import pyarrow as pa

    return column.values if column.is_text else pa.array(column.values, mask=column.nulls)


def _rounded(column: _Column) -> pa.Array:
    """Return floats with some of their bits, which differences below the tolerance seldom change."""
    import numpy as np
    import pyarrow as pa

    if column.is_text:
        return column.values
    # Floats of 32 bits would be infinite beyond 3.4e38.
    shares, exponents = np.frexp(column.values)
    with np.errstate(over="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(shares, _BITS)), exponents - _BITS)
    return pa.array(rounded, mask=column.nulls)
