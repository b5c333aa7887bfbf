"""Hypothesis strategies of tables, for property-based tests of table formats.

``@given(tables())`` draws tables of every kind of column; ``tables(kinds)`` draws columns of some kinds,
e.g. of all that an adapter does not refuse.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import pytest

MAX_ROWS = 8
MAX_COLUMNS = 4
# Columns of the wide tables, which have one kind of column and few rows.
WIDE_COLUMNS = 40

ZONES = ("UTC", "Europe/Prague", "America/New_York", "Asia/Kathmandu")
"""Time zones with and without daylight saving, one of them with an offset of 45 minutes."""

# Text that readers of formats without types turn into other values, and text that needs quotes.
_LOOKALIKES = st.sampled_from(
    [
        *("1", "-0", "007", "2.50", "1e5", "0x1F", "inf", "NaN", "nan"),
        *("true", "False", "t", "yes", "NA", "N/A", "#N/A", "null", "None", "<NA>", r"\N", r"\\N"),
        *("2024-01-01", "12:30:00", "2024-01-01T12:30:00Z", "=1+1", "+1", "@a", "_x000D_"),
        *("'", '"', 'a"b', ",", "a,b", ";", "\t", "|", "<b>", "&amp;", "]]>", "{}", "[1]"),
        *(" a", "a ", " ", "", "\n", "\r\n", "\r", "\0", "\u2028", "\ufeff", "\u200b"),
        *("\u00e9", "e\u0301", "\U0001f469\u200d\U0001f680", "\U0001f1e8\U0001f1ff"),
    ]
)
# Surrogates (category Cs) are not characters, and cannot be encoded.
_CHARACTERS = st.characters(exclude_categories=["Cs"])

TEXT = st.one_of(
    _LOOKALIKES,
    st.text(_CHARACTERS, max_size=12),
    st.text("ab0 ", max_size=3),
)
"""Text: arbitrary characters without surrogates, and values that readers take for others."""

NAMES = st.one_of(
    st.sampled_from("a b value id date A B row index 0 column_1 _1 x.y größe 名前 🙂 a,b".split()),
    st.from_regex(r"[a-z][a-z0-9_]{0,7}", fullmatch=True),
    st.text(_CHARACTERS, max_size=8),
)
"""Names of columns: usual ones, which every format takes, and arbitrary ones."""

_WIDTHS: dict[str, Literal[16, 32, 64]] = {"float32": 32, "float64": 64}

Columns = Callable[[int], st.SearchStrategy[Any]]
"""Returns a strategy of columns with a number of rows, as pandas takes them."""


def tables(kinds: Collection[Kind] = tuple(Kind), names: st.SearchStrategy[str] = NAMES) -> Any:
    """Return a strategy of tables with the default index and unique text column names.

    Parameters
    ----------
    kinds : collection of Kind
        Kinds of column to choose from.
    names : strategy of str
        Names of columns.

    Returns
    -------
    strategy of pandas.DataFrame
        Shape (rows, columns) up to (8, 4), or (2, 40) for wide tables.
    """
    ordered = sorted(kinds, key=list(Kind).index)
    return st.one_of(_ordinary(ordered, names), _wide(ordered))


def try_values(
    examples: int,
    drawn: st.SearchStrategy[Any],
    check: Callable[[Any], None],
    request: pytest.FixtureRequest,
) -> None:
    """Check random values of a strategy: always the same ones, unless `--random-tables` has a number."""
    number = request.config.getoption("--random-tables")
    chosen = settings(
        max_examples=number or examples,
        derandomize=number is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    chosen(given(drawn)(check))()


@st.composite
def _ordinary(draw: st.DrawFn, kinds: list[Kind], names: st.SearchStrategy[str]) -> pd.DataFrame:
    rows = draw(st.integers(0, MAX_ROWS))
    labels = draw(st.lists(names, min_size=1, max_size=MAX_COLUMNS, unique=True))
    columns = [draw(COLUMNS[draw(st.sampled_from(kinds))](rows)) for _ in labels]
    return _table(labels, columns, rows)


@st.composite
def _wide(draw: st.DrawFn, kinds: list[Kind]) -> pd.DataFrame:
    rows = draw(st.integers(1, 2))
    column = draw(COLUMNS[draw(st.sampled_from(kinds))](rows))
    labels = [f"c{i}" for i in range(WIDE_COLUMNS)]
    return _table(labels, [column] * WIDE_COLUMNS, rows)


def _table(names: list[str], columns: list[Any], rows: int) -> pd.DataFrame:
    df = pd.DataFrame(dict(enumerate(columns)), pd.RangeIndex(rows))
    df.columns = pd.Index(names, dtype="str")
    return df


def _lists(values: st.SearchStrategy[Any], rows: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=rows, max_size=rows)


def _nullable(values: st.SearchStrategy[Any], rows: int) -> st.SearchStrategy[list[Any]]:
    return _lists(st.one_of(values, st.none()), rows)


def _integers(dtype: str) -> st.SearchStrategy[int]:
    """Return a strategy of integers of NumPy's dtype, often at or near the ends of a range."""
    info = np.iinfo(dtype)
    edges = {0, 1, -1, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, info.min, info.max}
    ends = sorted(each for each in edges if info.min <= each <= info.max)
    return st.one_of(st.sampled_from(ends), st.integers(int(info.min), int(info.max)))


def _floats(bits: Literal[16, 32, 64]) -> st.SearchStrategy[float]:
    edges = [0.0, -0.0, 1.0, -1.5, math.nan, math.inf, -math.inf]
    return st.one_of(st.sampled_from(edges), st.floats(width=bits))


def _of_dtypes(dtypes: str, values: Callable[[str], st.SearchStrategy[Any]]) -> Columns:
    """Return columns of one of NumPy's dtypes."""

    def columns(rows: int) -> st.SearchStrategy[Any]:
        return st.sampled_from(dtypes.split()).flatmap(
            lambda dtype: _lists(values(dtype), rows).map(lambda each: np.array(each, dtype))
        )

    return columns


def _of_nullable_dtypes(dtypes: str, values: Callable[[str], st.SearchStrategy[Any]]) -> Columns:
    """Return columns of one of pandas' nullable dtypes."""

    def columns(rows: int) -> st.SearchStrategy[Any]:
        return st.sampled_from(dtypes.split()).flatmap(
            lambda dtype: _nullable(values(dtype.lower()), rows).map(
                lambda each: pd.array(each, dtype=dtype)
            )
        )

    return columns


def _of_objects(values: st.SearchStrategy[Any]) -> Columns:
    """Return columns of Python objects, at least one of them not null."""

    def column(values: list[Any]) -> pd.Series:
        return pd.Series(values, dtype=object)

    def columns(rows: int) -> st.SearchStrategy[Any]:
        if rows == 0:
            return st.just(column([]))
        some = st.tuples(values, _nullable(values, rows - 1)).map(lambda each: [each[0], *each[1]])
        return some.flatmap(st.permutations).map(column)

    return columns


def _text(rows: int) -> st.SearchStrategy[Any]:
    values = _nullable(TEXT, rows)
    texts = values.map(lambda each: pd.array(each, dtype="str"))
    marked = values.map(lambda each: pd.array(each, dtype="string"))
    return st.one_of(texts, marked, _of_objects(TEXT)(rows))


def _half_floats(rows: int) -> st.SearchStrategy[Any]:
    return _lists(_floats(16), rows).map(lambda each: np.array(each, "float16"))


def _complex(rows: int) -> st.SearchStrategy[Any]:
    values = st.complex_numbers(allow_nan=False)
    return _lists(values, rows).map(lambda each: np.array(each, "complex128"))


def _times(kind: str) -> Columns:
    """Return columns of datetimes ("M") or timedeltas ("m") in each unit of pandas."""

    def columns(rows: int) -> st.SearchStrategy[Any]:
        def of_unit(unit: str) -> st.SearchStrategy[Any]:
            values = st.one_of(_counts(unit), st.just(np.iinfo("int64").min))  # the latter is NaT
            return _lists(values, rows).map(
                lambda each: np.array(each, "int64").view(f"{kind}8[{unit}]")
            )

        return st.sampled_from(["s", "ms", "us", "ns"]).flatmap(of_unit)

    return columns


def _counts(unit: str) -> st.SearchStrategy[int]:
    """Return counts of a unit since 1970 within the years of Python, or of nanoseconds."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    first, last = (-9_200_000_000, 9_200_000_000) if unit == "ns" else (-62_135_596_800, 253_402_300_799)
    exact = st.integers(first * per_second, last * per_second)
    # Around 2020, and on whole seconds, as most datetimes of real tables.
    near = st.integers(1_577_836_800, 1_609_459_200).map(lambda seconds: seconds * per_second)
    return st.one_of(near, exact)


def _zoned(rows: int) -> st.SearchStrategy[Any]:
    # A day less at each end, since the local time must be one of Python's years, too.
    counts = st.one_of(
        st.integers(1_577_836_800, 1_609_459_200), st.integers(-62_000_000_000, 253_000_000_000)
    )
    values = _lists(st.one_of(counts, st.just(np.iinfo("int64").min)), rows)

    def column(each: list[int], zone: str, unit: str) -> Any:
        seconds = pd.DatetimeIndex(np.array(each, "int64").view("M8[s]"))
        return seconds.as_unit(unit).tz_localize("UTC").tz_convert(zone).array

    return st.builds(column, values, st.sampled_from(ZONES), st.sampled_from(["s", "ms", "us"]))


def _categories(values: st.SearchStrategy[Any]) -> Columns:
    """Return columns of categories, some of them unused."""

    def columns(rows: int) -> st.SearchStrategy[Any]:
        some = st.lists(values, min_size=1, max_size=4, unique=True)

        def of(categories: list[Any]) -> st.SearchStrategy[Any]:
            codes = _lists(st.integers(-1, len(categories) - 1), rows)
            index = pd.Index(categories, dtype="str" if isinstance(categories[0], str) else None)
            return st.builds(
                lambda each, ordered: pd.Categorical.from_codes(each, index, ordered),
                codes,
                st.booleans(),
            )

        return some.flatmap(of)

    return columns


def _periods(rows: int) -> st.SearchStrategy[Any]:
    return _lists(st.integers(-500, 500), rows).map(
        lambda each: pd.PeriodIndex.from_ordinals(each, freq="M").array
    )


def _intervals(rows: int) -> st.SearchStrategy[Any]:
    return _lists(st.integers(-9, 9), rows).map(
        lambda each: pd.arrays.IntervalArray.from_arrays(each, [i + 1 for i in each])
    )


def _sparse(rows: int) -> st.SearchStrategy[Any]:
    return _lists(st.integers(0, 2), rows).map(lambda each: pd.arrays.SparseArray(each, dtype="int64"))


def _calendar_intervals(rows: int) -> st.SearchStrategy[Any]:
    numbers = st.tuples(_integers("int32"), _integers("int32"), _integers("int64"))
    return _nullable(numbers.map(pa.MonthDayNano), rows).map(
        lambda each: pd.arrays.ArrowExtensionArray(pa.array(each, pa.month_day_nano_interval()))
    )


def _arrow(kind: pa.DataType, values: st.SearchStrategy[Any]) -> Columns:
    return lambda rows: _nullable(values, rows).map(lambda each: pd.array(each, pd.ArrowDtype(kind)))


# Types inside nested columns, and their values.
_LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), _integers("int64")),
    (pa.float32(), _floats(32)),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXT),
]


def around(
    kind: Kind, inside: pa.DataType, values: st.SearchStrategy[Any]
) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """Return a nested type of a kind and its values, with nulls inside."""
    some = st.one_of(values, st.none())
    if kind is Kind.VECTOR:
        return pa.list_(inside, 2), st.lists(some, min_size=2, max_size=2)
    if kind is Kind.STRUCT:
        fields = {"b": some, "a": st.one_of(st.integers(-9, 9), st.none())}
        return pa.struct({"b": inside, "a": pa.int8()}), st.fixed_dictionaries(fields)
    if kind is Kind.MAP:
        entry = st.tuples(st.text("ab", max_size=1), some)
        return pa.map_(pa.string(), inside), st.lists(entry, max_size=2)
    return pa.list_(inside), st.lists(some, max_size=3)


def _nested(kind: Kind) -> Columns:
    """Return nested columns of a kind, around values or around lists and structs of them."""

    def columns(rows: int) -> st.SearchStrategy[Any]:
        def of(leaf: tuple[pa.DataType, st.SearchStrategy[Any]], between: Kind | None) -> Any:
            inner = leaf if between is None else around(between, *leaf)
            dtype, values = around(kind, *inner)
            return _nullable(values, rows).map(
                lambda each: pd.arrays.ArrowExtensionArray(pa.array(each, dtype))
            )

        between = st.sampled_from([None, None, Kind.LIST, Kind.STRUCT])
        return st.builds(of, st.sampled_from(_LEAVES), between).flatmap(lambda each: each)

    return columns


_DATES = st.one_of(st.dates(), st.sampled_from([dt.date(1900, 2, 28), dt.date(1970, 1, 1)]))
_DECIMALS = st.integers(-(10**9), 10**9).map(lambda each: Decimal(each).scaleb(-2))


COLUMNS: dict[Kind, Columns] = {
    Kind.BOOLEAN: _of_dtypes("bool", lambda _: st.booleans()),
    Kind.INTEGER: _of_dtypes("int64 int32 int16 int8", _integers),
    Kind.UNSIGNED: _of_dtypes("uint64 uint32 uint16 uint8", _integers),
    Kind.HALF_FLOAT: _half_floats,
    Kind.FLOAT: _of_dtypes("float64 float32", lambda dtype: _floats(_WIDTHS[dtype])),
    Kind.COMPLEX: _complex,
    Kind.TEXT: _text,
    Kind.NULL: lambda rows: st.just(pd.Series([None] * rows, dtype=object)),
    Kind.BINARY: _of_objects(st.one_of(st.binary(max_size=6), st.sampled_from([b"", b"\0", b"\xff"]))),
    Kind.DATE: _of_objects(_DATES),
    Kind.TIME: _of_objects(st.times()),
    Kind.DECIMAL: _of_objects(_DECIMALS),
    Kind.WIDE_DECIMAL: _of_objects(_DECIMALS.map(lambda each: Decimal(10**39) + each)),
    Kind.NULLABLE_BOOLEAN: _of_nullable_dtypes("boolean", lambda _: st.booleans()),
    Kind.NULLABLE_INTEGER: _of_nullable_dtypes("Int64 Int32 Int8", _integers),
    Kind.NULLABLE_UNSIGNED: _of_nullable_dtypes("UInt64 UInt32 UInt8", _integers),
    # pandas' nullable floats treat NaN as a null.
    Kind.NULLABLE_FLOAT: _of_nullable_dtypes(
        "Float64 Float32",
        lambda dtype: _floats(_WIDTHS[dtype]).filter(lambda each: not math.isnan(each)),
    ),
    Kind.DATETIME: _times("M"),
    Kind.ZONED_DATETIME: _zoned,
    Kind.TIMEDELTA: _times("m"),
    Kind.CATEGORY: _categories(TEXT),
    Kind.CATEGORY_NOT_TEXT: _categories(_integers("int64")),
    Kind.PERIOD: _periods,
    Kind.INTERVAL: _intervals,
    Kind.SPARSE: _sparse,
    Kind.ARROW: _arrow(pa.int32(), _integers("int32")),
    Kind.CALENDAR_INTERVAL: _calendar_intervals,
    Kind.LIST: _nested(Kind.LIST),
    Kind.VECTOR: _nested(Kind.VECTOR),
    Kind.STRUCT: _nested(Kind.STRUCT),
    Kind.MAP: _nested(Kind.MAP),
    Kind.EMPTY_STRUCT: _arrow(pa.struct([]), st.just({})),
    # pandas itself lacks functions for unions and views of lists.
    **dict.fromkeys((Kind.OTHER_NESTED, Kind.NESTED), _nested(Kind.LIST)),
    Kind.MIXED: _of_objects(st.one_of(st.integers(0, 9), TEXT, st.binary(max_size=2))),
}
"""Strategies of columns by kind; each takes the number of rows."""
