"""Columns with edge cases: all kinds of pandas columns, and values that are easily lost.

Each column is in a separate table: a format that refuses one can still be tried on the others.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


ROWS = 4

NUMPY_DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex128"
).split()


def edge_case_tables() -> dict[str, pd.DataFrame]:
    """Return tables of shape (4, 2) with the columns `c`, whose content is the key, and `row`."""
    return {name: df for group in GROUPS for name, df in group().items()}


def _one(values: Any, dtype: Any = None) -> pd.DataFrame:
    """Return a table of the column `c` and a plain one, without which rows of nulls would be empty."""
    import pandas as pd

    return pd.DataFrame({"c": pd.Series(values, dtype=dtype), "row": range(ROWS)})


def _times(*texts: str | None) -> pd.Series:
    import pandas as pd

    return pd.Series(pd.to_datetime(list(texts), format="ISO8601"))


def _numbers() -> dict[str, pd.DataFrame]:
    import numpy as np

    plain = {name: _one(np.array([0, 1, 1, 0]).astype(name)) for name in NUMPY_DTYPES}
    return {
        **{f"{name} column": df for name, df in plain.items()},
        "smallest and largest integers": _one([2**63 - 1, -(2**63), 2**53 + 1, 0]),
        "largest unsigned integers": _one(np.array([2**64 - 1, 2**63, 1, 0], dtype="uint64")),
        "floats with 17 digits": _one([0.1 + 0.2, 1 / 3, 1e300 / 7, 123456.7890123456]),
        "float32 with 9 digits": _one(np.array([0.1, 1 / 3, 1e30 / 7, 16777217], dtype="float32")),
        "tiny floats": _one([5e-324, 2.2250738585072014e-308, 1e-20, 1.0]),
        "NaN": _one([1.5, np.nan, 2.5, np.nan]),
        "infinity": _one([np.inf, -np.inf, 0.0, 1.0]),
        "minus zero": _one([-0.0, 0.0, 1.0, -1.0]),
    }


def _text() -> dict[str, pd.DataFrame]:
    return {
        "text with nulls": _one(["a", None, "b", None]),
        "empty text": _one(["a", "", "b", ""]),
        "empty text and nulls": _one(["a", "", None, "b"]),
        "only nulls in text": _one([None] * ROWS, "str"),
        "words that stand for null": _one(["NA", "null", "nan", "None"]),
        "one word that stands for null": _one(["a", "NULL", "b", r"\N"]),
        "text like integers": _one(["01", "2", "003", "4"]),
        "text like floats": _one(["1.10", "2e5", "inf", "-.5"]),
        "text like booleans": _one(["True", "False", "true", "FALSE"]),
        "text like dates": _one(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]),
        "text like integers, later not": _one(["1", "2", "3", "x"]),
        "text like formulas": _one(["=1+1", "+1", "@x", "-x"]),
        "text with separators": _one(["a,b", 'c"d', "e;f\tg", "'h'"]),
        "text with line breaks": _one(["a\nb", "c\r\nd", "\n", "e\u2028f\x85"]),
        "text with carriage returns": _one(["a\rb", "\r", "c", "d\r"]),
        "text with blanks around": _one([" a", "b ", "  c  ", "d\t"]),
        "text with markup": _one(["<a>&amp;</a>", "]]>", "<!--", "&"]),
        "text with control characters": _one(["a\x01b", "\x1b[0m", "\x7f", "c"]),
        "text with NUL": _one(["a\0b", "c\0", "\0", "d"]),
        "text with Excel escapes": _one(["_x000D_", "a_x0041_b", "_x", "b"]),
        "text in many scripts": _one(["Ω≈ç√", "漢字仮名", "🙂👩‍👩‍👧", "עִבְרִית\ufeff"]),
        "very long text": _one(["x" * 40_000, "y", "z" * 100_000, "w"]),
        "text as objects": _one(["a", None, "", "b"], object),
        "text that keeps NA": _one(["a", None, "b", "c"], "string"),
    }


def _objects() -> dict[str, pd.DataFrame]:
    import numpy as np

    return {
        "bytes": _one([b"a", b"", b"\xff\x00", None], object),
        "objects of mixed types": _one(["a", 1, 2.5, None], object),
        "bytes among text": _one(["a", b"b", "c", None], object),
        "integers as objects": _one([1, None, 3, 2**62 + 1], object),
        "booleans as objects": _one([True, None, False, True], object),
        "only nulls as objects": _one([None] * ROWS, object),
        "dates": _one([dt.date(2020, 1, 1), None, dt.date(1900, 3, 1), dt.date(9999, 12, 31)], object),
        "times": _one([dt.time(1, 2, 3), None, dt.time(0), dt.time(23, 59, 59, 999999)], object),
        "decimals": _one([Decimal("1.10"), None, Decimal("-2.05"), Decimal("3.30")], object),
        "decimals of 50 digits": _one([Decimal("9" * 48 + ".25"), None, Decimal("0.01"), Decimal(0)]),
        "lists": _one([[1, 2], [], None, [3]], object),
        "arrays": _one([np.array([1, np.nan]), np.empty(0), None, np.array([-0.0])], object),
        "dictionaries of equal keys": _one(
            [{"b": 1, "a": [1]}, None, {"b": None, "a": []}, None], object
        ),
        "dictionaries": _one([{"a": 1}, {"b": 2}, None, {}], object),
    }


def _times_and_categories() -> dict[str, pd.DataFrame]:
    import numpy as np
    import pandas as pd

    zoned = _times("2020-01-01T00:00:00", "2020-07-01", None, "2021-01-01").dt.tz_localize(
        "Europe/Paris"
    )
    micro = _times("2020-01-01T00:00:00.123456", None, "1700-01-01", "2200-01-01").dt.as_unit("us")
    return {
        "datetimes in nanoseconds": _one(
            _times("2020-01-01T00:00:00.123456789", None, "1700-01-01", "2262-01-01").dt.as_unit("ns")
        ),
        "datetimes in microseconds": _one(micro),
        "datetimes in milliseconds": _one(micro.dt.floor("ms").dt.as_unit("ms")),
        "datetimes in seconds": _one(micro.dt.floor("s").dt.as_unit("s")),
        "datetimes before 1900": _one(_times("1899-12-31", "1900-01-01", "1900-02-28", "1900-03-01")),
        "datetimes of all years": _one(
            pd.Series(np.array(["0001-01-01", "9999-12-31", "NaT", "2020-02-29"], "datetime64[us]"))
        ),
        "datetimes with a zone": _one(zoned),
        "datetimes in UTC": _one(zoned.dt.tz_convert("UTC")),
        "timedeltas": _one(pd.to_timedelta([1, None, 10**15, -5], unit="ns")),
        "categories": _one(["b", "a", None, "b"], "category"),
        "categories, ordered and unused": _one(
            pd.Categorical(["b", "a", None, "b"], ["c", "b", "a"], ordered=True)
        ),
        "categories like integers": _one(["01", "2", "01", "2"], "category"),
        "categories of integers": _one([3, 1, 3, 1], "category"),
    }


def _extensions() -> dict[str, pd.DataFrame]:
    import pandas as pd
    import pyarrow as pa

    return {
        "nullable integers": _one([1, None, -2, 3], "Int64"),
        "large nullable integers": _one([2**62 + 1, None, -2, 3], "Int64"),
        "small nullable integers": _one([1, None, -2, 3], "Int8"),
        "nullable unsigned integers": _one([1, None, 2, 2**32], "UInt64"),
        "nullable floats": _one([1.5, None, -2.5, 3.0], "Float64"),
        "nullable booleans": _one([True, None, False, True], "boolean"),
        "periods": _one(pd.period_range("2020-01", periods=ROWS, freq="M")),
        "intervals": _one(pd.interval_range(0, ROWS)),
        "sparse integers": _one(pd.arrays.SparseArray([0, 0, 1, 0])),
        "Arrow integers": _one([1, None, 2, 3], "int32[pyarrow]"),
        "Arrow text": _one(["1", None, "2", "3"], pd.ArrowDtype(pa.string())),
        "Arrow decimals": _one(
            [Decimal("1.10"), None, Decimal("-2.05"), Decimal("3.30")],
            pd.ArrowDtype(pa.decimal128(12, 2)),
        ),
        "Arrow lists": _one([[1], None, [], [2, 3]], pd.ArrowDtype(pa.list_(pa.int64()))),
    }


def _nested() -> dict[str, pd.DataFrame]:
    """Return nested columns of Arrow, with nulls at each level, empty values, and NaN beside nulls."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    nan = float("nan")
    half = np.float16  # Arrow 15 takes no others
    day, hour = dt.date(2020, 2, 29), dt.time(1, 2, 3, 4)
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 (zones are the types')
    point = pa.struct({"y": pa.float64(), "x": pa.float64()})
    lists: dict[str, tuple[pa.DataType, list[Any]]] = {
        "floats": (pa.float32(), [nan, None, -0.0, 0.1]),
        "integers": (pa.int64(), [2**53 + 1, None, -(2**63), 2**63 - 1]),
        "unsigned integers": (pa.uint64(), [2**64 - 1, None, 0]),
        "booleans": (pa.bool_(), [True, None, False]),
        "text": (pa.string(), ["a", None, "", "Zürich"]),
        "bytes": (pa.binary(), [b"a", None, b"", b"\xff\x00"]),
        "decimals": (pa.decimal128(38, 10), [Decimal("1.5"), None, Decimal("-" + "9" * 28)]),
        "dates": (pa.date32(), [day, None, dt.date(1, 1, 1)]),
        "times of day": (pa.time64("us"), [hour, None, dt.time(0)]),
        "datetimes": (pa.timestamp("us"), [moment, None]),
        "datetimes with a zone": (
            pa.timestamp("ms", "Europe/Paris"),
            [moment.replace(tzinfo=dt.UTC, microsecond=0), None],
        ),
        "durations": (pa.duration("us"), [dt.timedelta(microseconds=-1), None]),
        "categories": (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b", "a"]),
        "nulls": (pa.null(), [None, None]),
        "lists": (pa.list_(pa.int16()), [[1, None], [], None]),
        "structs": (point, [{"y": nan, "x": None}, None, {"y": None, "x": None}]),
    }
    others = {
        "large lists of text": (pa.large_list(pa.string()), [["a", None], [], None, [""]]),
        "vectors": (pa.list_(pa.float32(), 3), [[1.5, nan, -0.0], None, [None, 1e-40, 2], [0, 0, 0]]),
        "vectors of float16": (
            pa.list_(pa.float16(), 2),
            [[half(0.1), half(nan)], None, [half(-0.0), half(1)], [half(2), half(3)]],
        ),
        "vectors of int8": (pa.list_(pa.int8(), 2), [[-128, 127], [0, 1], [2, 3], [4, 5]]),
        "structs": (
            pa.struct({"b": pa.int64(), "a": pa.string()}),
            [{"b": 2**53 + 1, "a": "x"}, None, {"b": None, "a": None}, {"b": 0, "a": ""}],
        ),
        "structs of all": (
            pa.struct({"p": point, "tags": pa.list_(pa.string()), "v": pa.list_(pa.int8(), 2)}),
            [
                {"p": {"y": 1.0, "x": None}, "tags": ["a", None], "v": [1, 2]},
                {"p": None, "tags": [], "v": None},
                None,
                {"p": {"y": nan, "x": -0.0}, "tags": None, "v": [None, 3]},
            ],
        ),
        "structs without fields": (pa.struct([]), [{}, None, {}, {}]),
        "maps": (pa.map_(pa.string(), pa.int64()), [[("b", 1), ("a", None)], [], None, [("a", 2)]]),
        "maps with repeated keys": (
            pa.map_(pa.string(), pa.float64()),
            [[("a", 1), ("a", nan)], [], None, [("", -0.0)]],
        ),
        "maps of numbers": (
            pa.map_(pa.int32(), pa.list_(pa.string())),
            [[(2, ["x"])], [], None, [(1, [])]],
        ),
        "maps of structs": (
            pa.map_(pa.string(), point),
            [[("a", {"y": nan, "x": None}), ("b", None)], [], None, [("", {"y": -0.0, "x": 1.0})]],
        ),
        "lists of maps": (
            pa.list_(pa.map_(pa.string(), pa.int64())),
            [[[("a", 1), ("b", None)], None, []], [], None, [[("", 2**53 + 1)]]],
        ),
        "lists of vectors": (
            pa.list_(pa.list_(pa.float32(), 2)),
            [[[1.5, -0.0], None, [0.1, 2]], [], None, [[0, 1]]],
        ),
        "lists of lists of structs": (
            pa.list_(pa.list_(point)),
            [[[{"y": nan, "x": None}, None], [], None], [], None, [[{"y": 1.0, "x": -0.0}]]],
        ),
    }
    named = {
        f"lists of {name}": (pa.list_(of), [some, [], None, some[::-1]])
        for name, (of, some) in lists.items()
    }
    return {
        name: _one(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))
        for name, (kind, values) in (named | others).items()
    }


def uncompared_tables() -> dict[str, pd.DataFrame]:
    """Return tables like `edge_case_tables` with columns that pandas holds, and cannot compare."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    kinds = pa.array(np.array([0, 1, 0, 1], np.int8))
    names = ["number", "text"]
    dense = [pa.array([2**53 + 1, None]), pa.array(["1", ""])]
    sparse = [pa.array([2**53 + 1, 0, None, 0]), pa.array(["", "1", "", ""])]
    places = pa.array(np.array([0, 0, 1, 1], np.int32))
    intervals = [pa.MonthDayNano(each) for each in ([1, 31, -1], [0, 0, 0], [-12, 0, 2**62])]
    return {
        "calendar intervals": _one(pd.arrays.ArrowExtensionArray(pa.array([*intervals, None]))),
        "unions": _one(
            pd.arrays.ArrowExtensionArray(pa.UnionArray.from_dense(kinds, places, dense, names))
        ),
        "unions in which each kind has all rows": _one(
            pd.arrays.ArrowExtensionArray(pa.UnionArray.from_sparse(kinds, sparse, names))
        ),
    }


def geometry_tables() -> dict[str, pd.DataFrame]:
    """Return tables of shape (4, 2) with the columns `row` and `geometry`, as GDAL's formats want them.

    Geometries are a point, a line, and polygons with a hole, in WKB, with coordinates of few decimals.
    """
    import pandas as pd

    point = _wkb(1, _coordinates([(14.42, 50.09)]))
    line = _wkb(2, _line([(0, 0), (1.5, -0.25), (180, -90)]))
    square = [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)]
    hole = [(1, 1), (1, 2), (2, 2), (2, 1), (1, 1)]
    polygon = _wkb(3, struct.pack("<I", 2) + _line(square) + _line(hole))
    several = _wkb(6, struct.pack("<I", 2) + polygon + _wkb(3, struct.pack("<I", 1) + _line(hole)))
    in_part = _wkb(5, struct.pack("<I", 2) + _wkb(2, _line([])) + line)
    collection = _wkb(7, struct.pack("<I", 2) + point + line)
    nested = _wkb(7, struct.pack("<I", 2) + polygon + collection)

    def table(values: list[bytes | None]) -> pd.DataFrame:
        return pd.DataFrame({"row": range(ROWS), "geometry": pd.Series(values, dtype=object)})

    return {
        "geometries": table([point, line, polygon, several]),
        "geometries with nulls": table([None, point, polygon, None]),
        "geometries with empty parts": table([point, in_part, line, in_part]),
        "collections of geometries": table([point, collection, nested, line]),
    }


def _wkb(kind: int, content: bytes) -> bytes:
    """Return a geometry in Well-known Binary, little-endian."""
    return struct.pack("<BI", 1, kind) + content


def _line(places: Sequence[tuple[float, float]]) -> bytes:
    return struct.pack("<I", len(places)) + _coordinates(places)


def _coordinates(places: Sequence[tuple[float, float]]) -> bytes:
    return b"".join(struct.pack("<dd", *place) for place in places)


GROUPS = (_numbers, _text, _objects, _times_and_categories, _extensions, _nested)
"""Functions that make the tables; older libraries may be too old for some."""
