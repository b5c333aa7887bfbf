"""Selections of rows: slices, and predicates that compare columns with constants."""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidSelectionError

if TYPE_CHECKING:
    import numpy as np

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
"""Functions of Python by the operators of a comparison."""

Value = bool | int | float | str | datetime | date | Decimal

NUMBERS, TEXT, BOOLEANS, TIMES, DATES = "numbers", "text", "booleans", "times", "dates"
ZONED_TIMES = "times with a time zone"
DECIMALS = "decimals"
"""Types of columns that can be compared."""

DECIMAL_DIGITS = 38
"""Digits of decimals that are compared: those of Arrow's decimal128, and of most databases."""

_MICROSECOND, _DAY = timedelta(microseconds=1), timedelta(days=1)
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (of times without a zone, too)

_ADVICE = {
    (ZONED_TIMES, TIMES): "; write its time zone, as in 2026-01-31T12:00:00Z",
    (ZONED_TIMES, DATES): "; write a time with its time zone, as in 2026-01-31T00:00:00Z",
    (TIMES, ZONED_TIMES): "; write it without a time zone",
}


@dataclass(frozen=True)
class Comparison:
    """Comparison of a column with a constant; a null, and NaN, compares false.

    Numbers compare with numbers, decimals with decimals, text with text by code points, booleans with
    booleans, dates with dates, times without a time zone with each other, and times with one by their
    moments, whatever the zones. A constant is rounded to the 16 or 32 bits of a column of such floats.

    Parameters
    ----------
    column : str
        Name of the column.
    operator : str
        One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``; booleans have the first two only.
    value : bool, int, float, str, datetime, date or Decimal
        The constant.

    Raises
    ------
    InvalidSelectionError
        If the operator is unknown, or the constant is null, of another type, or beyond 64 bits.
    """

    column: str
    operator: str
    value: Value

    def __post_init__(self) -> None:
        if hasattr(self.value, "item"):  # a scalar of NumPy
            object.__setattr__(self, "value", self.value.item())
        if self.operator not in OPERATORS:
            known = " ".join(OPERATORS)
            raise InvalidSelectionError(f"{self.operator!r} is not an operator of predicates: {known}")
        is_nan = isinstance(self.value, float) and math.isnan(self.value)
        is_endless = isinstance(self.value, Decimal) and not self.value.is_finite()
        if is_nan or is_endless or not isinstance(self.value, Value):
            raise InvalidSelectionError(
                f"column {self.column!r} is compared with {self.value!r}: no number, text, boolean, time"
            )
        if self.type == NUMBERS and isinstance(self.value, int) and not -(2**63) <= self.value < 2**63:
            raise InvalidSelectionError(f"{self.value} does not fit in 64 bits")
        if self.type == BOOLEANS and self.operator not in ("==", "!="):
            raise InvalidSelectionError(f"booleans have no order, hence no {self.operator!r}")

    @property
    def type(self) -> str:
        """Type of the columns that it can compare, e.g. `NUMBERS`."""
        if isinstance(self.value, bool):
            return BOOLEANS
        if isinstance(self.value, datetime):
            return TIMES if self.value.tzinfo is None else ZONED_TIMES
        if isinstance(self.value, date):
            return DATES
        if isinstance(self.value, Decimal):
            return DECIMALS
        return TEXT if isinstance(self.value, str) else NUMBERS

    def fitted(self, contents: str, *, is_single: bool = False) -> Comparison:
        """Return the comparison for a column of a known type.

        Parameters
        ----------
        contents : str
            Type of the column: one that can be compared, as `NUMBERS`, or the name of another.
        is_single : bool
            True for 32-bit floats, whose constant is rounded.

        Raises
        ------
        InvalidSelectionError
            If the column cannot be compared with the constant.
        """
        if contents != self.type:
            raise InvalidSelectionError(
                f"column {self.column!r} contains {contents}, which do not compare with {self.value!r}"
                + _ADVICE.get((contents, self.type), "")
            )
        if not is_single or isinstance(self.value, date):
            return self
        import numpy as np

        with np.errstate(over="ignore"):
            return replace(self, value=float(np.float32(self.value)))

    @property
    def number(self) -> float:
        """The constant as a float; numbers have one alone."""
        if isinstance(self.value, str | date):
            raise TypeError(f"{self.value!r} is not a number")
        return float(self.value)

    def by_total_order(self) -> list[Comparison]:
        """Return comparisons that are true together where it is, for engines to which -0.0 is below 0.0.

        That is IEEE 754's totalOrder, by which Rust libraries of Arrow compare floats:
        https://docs.rs/arrow/latest/arrow/compute/kernels/cmp/index.html
        """
        if not isinstance(self.value, float) or self.value != 0:
            return [self]
        bounds = {
            "==": [(">=", -0.0), ("<=", 0.0)],
            "!=": [("!=", -0.0), ("!=", 0.0)],
            # What is below zero is below both, and what is at least zero is at least the lesser one.
            "<": [("<", -0.0)],
            ">=": [(">=", -0.0)],
            "<=": [("<=", 0.0)],
            ">": [(">", 0.0)],
        }
        return [Comparison(self.column, *each) for each in bounds[self.operator]]

    def among_integers(self, lowest: int, highest: int) -> Comparison:
        """Return an equal comparison with an integer in the range of the column's type.

        Engines with literals of one type need it for other numbers. A comparison that is always true, or
        never, becomes one with the lowest integer.
        """
        if isinstance(self.value, str | date | Decimal):
            raise TypeError(f"{self.value!r} is not a number")
        return Comparison(self.column, *self._among(self.value, lowest, highest))

    def among_times(self, unit: str, lowest: datetime, highest: datetime) -> Comparison:
        """Return an equal comparison with a whole number of the column's units, within a range.

        Libraries compare times of one unit: of a finer constant some leave the rest out, and beyond the
        nanoseconds of 64 bits they fail.

        Parameters
        ----------
        unit : {"s", "ms", "us", "ns"}
            The column's; constants have microseconds at most.
        lowest, highest : datetime
            No value of the column is outside of them; with a time zone if the constant has one.
        """
        tick = timedelta(microseconds=_MICROSECONDS[unit])
        value, low, high = (_ticks(each, tick) for each in (self._time, lowest, highest))
        operator, ticks = self._among(value, math.ceil(low), math.floor(high))
        return Comparison(self.column, operator, _epoch(self._time) + ticks * tick)

    def among_decimals(self, precision: int, scale: int) -> Comparison:
        """Return an equal comparison with a decimal of a column's type, for a column of decimals.

        Libraries refuse a constant of more digits, or make floats of both.

        Parameters
        ----------
        precision, scale : int
            Digits of the column's values, and those after the point.
        """
        if not isinstance(self.value, int | float | Decimal):
            raise TypeError(f"{self.value!r} is not a number")
        # The decimal that is written: 0.1 is no float.
        value = Fraction(str(self.value))
        limit = 10**precision - 1
        operator, units = self._among(value * 10**scale, -limit, limit)
        # Exact, as arithmetic of decimals is not.
        return Comparison(self.column, operator, Decimal(f"{units}E-{scale}"))

    def in_zone(self, zone: tzinfo) -> Comparison:
        """Return an equal comparison with a time in a zone; in its own where the calendar ends."""
        try:
            return replace(self, value=self._time.astimezone(zone))
        except OverflowError:
            return self

    def among_dates(self) -> Comparison:
        """Return an equal comparison with a date, for a column of dates: their first moments."""
        first, last = ((each - _EPOCH.date()).days for each in (date.min, date.max))
        operator, days = self._among(_ticks(self._time, _DAY), first, last)
        return Comparison(self.column, operator, _EPOCH.date() + days * _DAY)

    @property
    def _time(self) -> datetime:
        if not isinstance(self.value, datetime):
            raise TypeError(f"{self.value!r} is not a time")
        return self.value

    def _among(self, value: float | Fraction, lowest: int, highest: int) -> tuple[str, int]:
        """Return operator and integer of an equal comparison with an integer in a range."""
        operator, is_whole = self.operator, value % 1 == 0
        if lowest <= value <= highest:
            if is_whole or operator in ("<", "<="):
                return operator if is_whole else "<=", math.floor(value)
            if operator in (">", ">="):
                return ">=", math.ceil(value)
        is_below = operator in ("<", "<=") and value > highest
        is_above = operator in (">", ">=") and value < lowest
        return ">=" if operator == "!=" or is_below or is_above else "<", lowest

    def mask(self, values: Any) -> np.ndarray:
        """Return True for the values that compare true, shape (rows,), dtype bool.

        Parameters
        ----------
        values : array-like
            An array of NumPy or pandas, or a Series, shape (rows,).

        Raises
        ------
        InvalidSelectionError
            If the values cannot be compared with the constant.
        """
        import numpy as np

        compare = OPERATORS[self.operator]
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
            return self._mask_of_objects(values)
        self.fitted(NUMBERS)
        # Beyond 16 or 32 bits, a constant is infinite.
        with np.errstate(over="ignore"):
            mask: np.ndarray = compare(values, self.value)
        if self.operator == "!=" and values.dtype.kind == "f":
            mask &= values == values  # noqa: PLR0124 (NaN differs from itself)
        return mask

    def _mask_of_objects(self, values: Any) -> np.ndarray:
        import numpy as np
        import pandas as pd

        column = pd.Series(values, copy=False)
        self.fitted(contents_of(column))
        valid = column.notna().to_numpy()
        mask = np.zeros(len(column), bool)
        present = column if valid.all() else column[valid]
        if isinstance(present.dtype, pd.CategoricalDtype):
            present = present.astype(present.dtype.categories.dtype)
        with np.errstate(over="ignore"):
            mask[valid] = OPERATORS[self.operator](present, self.value).to_numpy(bool)
        return mask


@dataclass(frozen=True)
class Predicate:
    """Conjunction of comparisons, e.g. ``Predicate([Comparison("charge", "==", 1)])``.

    Parameters
    ----------
    comparisons : sequence of Comparison
        At least one; a row passes if all of them are true.

    Raises
    ------
    InvalidSelectionError
        Without comparisons.
    """

    comparisons: Sequence[Comparison]

    def __post_init__(self) -> None:
        object.__setattr__(self, "comparisons", tuple(self.comparisons))
        if not self.comparisons:
            raise InvalidSelectionError("a predicate needs at least one comparison")

    @property
    def columns(self) -> list[str]:
        """Names of the compared columns, each once."""
        return list(dict.fromkeys(each.column for each in self.comparisons))

    def mask(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Return True for the rows that pass, shape (rows,), dtype bool.

        Parameters
        ----------
        columns : mapping
            Values of at least `self.columns`, each as in `Comparison.mask`; also a DataFrame.

        Raises
        ------
        InvalidSelectionError
            If a column cannot be compared with its constant.
        """
        masks = (each.mask(columns[each.column]) for each in self.comparisons)
        return reduce(operators.iand, masks)

    def fitted(self, fit: Callable[[Comparison], Comparison]) -> Predicate:
        """Return the predicate with each comparison fitted to its column, see `Comparison.fitted`."""
        return Predicate([fit(each) for each in self.comparisons])

    def by_total_order(self) -> Predicate:
        """Return an equal predicate of fitted comparisons, see `Comparison.by_total_order`."""
        return Predicate([other for each in self.comparisons for other in each.by_total_order()])


def _ticks(value: datetime, tick: timedelta) -> Fraction:
    """Return a time as a number of ticks."""
    return Fraction((value - _epoch(value)) // _MICROSECOND, tick // _MICROSECOND)


def _epoch(value: datetime) -> datetime:
    return _EPOCH if value.tzinfo is None else _EPOCH.replace(tzinfo=UTC)


def contents_of(column: Any) -> str:
    """Return the type of a Series: that of its constants, or the name of its dtype."""
    import pandas as pd

    kinds = pd.api.types
    dtype = column.dtype
    if kinds.is_bool_dtype(dtype):
        return BOOLEANS
    if kinds.is_integer_dtype(dtype) or kinds.is_float_dtype(dtype):
        return NUMBERS
    if kinds.is_datetime64_dtype(dtype):  # without a zone
        return TIMES
    if isinstance(dtype, pd.DatetimeTZDtype):
        return ZONED_TIMES
    if isinstance(dtype, pd.CategoricalDtype):
        return contents_of(dtype.categories)
    if dtype == object:
        inferred = kinds.infer_dtype(column, skipna=True)
        known = {"string": TEXT, "empty": TEXT, "boolean": BOOLEANS, "date": DATES, "decimal": DECIMALS}
        return known.get(inferred, inferred)
    return TEXT if isinstance(dtype, pd.StringDtype) else str(dtype)


def bounds(rows: slice) -> tuple[int, int | None]:
    """Return the first row of a slice, and the row after its last; None for the end of the table.

    Raises
    ------
    InvalidSelectionError
        If it is not a slice, has a step other than 1, or a bound that is negative or not an integer.
    """
    if not isinstance(rows, slice):
        raise InvalidSelectionError(f"rows are a slice or a predicate, not {rows!r}")
    if rows.step not in (None, 1):
        raise InvalidSelectionError(f"rows cannot be read in steps of {rows.step!r}")
    for bound in (rows.start, rows.stop):
        if bound is not None and (not hasattr(bound, "__index__") or operators.index(bound) < 0):
            raise InvalidSelectionError(f"{bound!r} is not the number of a row: 0 or above")
    start = 0 if rows.start is None else operators.index(rows.start)
    return start, None if rows.stop is None else max(start, operators.index(rows.stop))
