"""Comparison of answers to queries: of columns by position, whatever types an engine has.

Integers, booleans and decimals compare as integers, texts of all types and dictionaries as texts, times
that an engine has found in texts (CSV has no types) as times, NaN as null, and floats within
`TOLERANCE`: sums of 100,000 floats differ between engines by up to 2e-14 of them, since they add in
different orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

TOLERANCE = 1e-10
"""Largest difference of two floats, as a share of them: eleven significant digits are equal."""


def difference(found: pa.Table, wanted: pa.Table, *, ordered: bool, absolute: float = 0.0) -> str:
    """Return the first difference of an answer from the reference; empty if they are equal.

    Parameters
    ----------
    found, wanted : pyarrow.Table
        The answer of an engine, and the reference.
    ordered : bool
        True if the rows have to be in the same order; else any order is right.
    absolute : float
        Difference of two floats that counts as none, of formats that round decimals.
    """
    if found.num_rows != wanted.num_rows or found.num_columns != wanted.num_columns:
        return f"{_shape(found)} instead of {_shape(wanted)}"
    wanted = _with_times_of(found, wanted)
    own, right = _normal(found), _normal(wanted)
    differing = _first_difference(own, right, absolute)
    if differing is not None and not ordered:
        differing = _first_difference(_sorted(own), _sorted(right), absolute)
    if differing is None:
        return ""
    return f"values of column {differing + 1}, {wanted.column_names[differing]}, differ"


def _shape(table: pa.Table) -> str:
    return f"{table.num_rows:,} rows of {table.num_columns} columns"


def _with_times_of(found: pa.Table, wanted: pa.Table) -> pa.Table:
    """Return the reference with times for texts that are times, where the answer has times."""
    import pyarrow as pa
    from pyarrow import types

    for place, column in enumerate(found.columns):
        reference = wanted.column(place)
        is_text = types.is_string(reference.type) or types.is_large_string(reference.type)
        if not is_text or not types.is_timestamp(column.type):
            continue
        try:
            times = reference.cast(pa.timestamp("us", column.type.tz and "UTC")).cast(column.type)
        except pa.ArrowInvalid:
            continue
        wanted = wanted.set_column(place, wanted.column_names[place], times)
    return wanted


def _normal(table: pa.Table) -> list[Any]:
    """Return columns as float64 or int64 of NumPy, or as texts of Arrow, without names."""
    return [_normal_column(each) for each in table.columns]


def _normal_column(column: pa.ChunkedArray) -> Any:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_boolean(column.type) or types.is_unsigned_integer(column.type):
        column = column.cast(pa.int64())
    if types.is_decimal(column.type):
        column = column.cast(pa.int64() if column.type.scale == 0 else pa.float64())
    if types.is_null(column.type):
        column = column.cast(pa.float64())
    if types.is_integer(column.type) and not column.null_count:
        return column.cast(pa.int64()).to_numpy()
    if types.is_integer(column.type) or types.is_floating(column.type):
        return pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
    if types.is_binary(column.type) or types.is_large_binary(column.type):
        column = column.cast(pa.large_binary())
    if column.null_count == len(column):
        # Of texts that are all null, an engine may have lost the type.
        return np.full(len(column), np.nan)
    return column.cast(pa.large_string()).combine_chunks()


def _first_difference(own: list[Any], right: list[Any], absolute: float) -> int | None:
    """Return the position of the first column that differs; None if none does."""
    for position, (one, other) in enumerate(zip(own, right, strict=True)):
        if not _equal(one, other, absolute):
            return position
    return None


def _equal(one: Any, other: Any, absolute: float) -> bool:
    import numpy as np

    numbers = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
    if all(numbers):
        if one.dtype == other.dtype == np.int64:
            return bool(np.array_equal(one, other))
        return bool(np.allclose(one, other, rtol=TOLERANCE, atol=absolute, equal_nan=True))
    return not any(numbers) and bool(one.equals(other))


def _sorted(columns: list[Any]) -> list[Any]:
    """Return the columns with their rows in order of all values, those of floats last.

    Floats that differ by rounding alone could change the order of rows that they decide.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = sorted(range(len(columns)), key=lambda place: _rank(columns[place]))
    table = pa.table({str(place): _rounded(each) for place, each in enumerate(columns)})
    order = pc.sort_indices(table, sort_keys=[(str(place), "ascending") for place in keys])
    rows = order.to_numpy()
    return [each[rows] if isinstance(each, np.ndarray) else each.take(order) for each in columns]


def _rank(column: Any) -> int:
    import numpy as np

    return int(isinstance(column, np.ndarray) and column.dtype == np.float64)


def _rounded(column: Any) -> Any:
    """Return floats as 32-bit ones, which differences below the tolerance seldom change."""
    import numpy as np

    if isinstance(column, np.ndarray) and column.dtype == np.float64:
        with np.errstate(over="ignore"):
            return column.astype(np.float32)
    return column
