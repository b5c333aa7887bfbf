"""Tables that came back wrong or changed: a catalogue of mutations, for tests of verifiers.

Each mutation takes a table of `every_type` and a generator of random numbers, and returns the table as
it came back. `WRONG` have another value, row or name; `CHANGED` have other dtypes alone.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa

ROWS = 12

_WORDS = ["Zürich", "zürich", "é", "naïve", "", "名前", "a b", "it's", "NA", "0", "-", "\u212b"]


def every_type(random):
    """Return a table with a column of each type that formats keep, shape (12, 22), values all different.

    Floats and nullable columns have nulls in the last row; other columns of objects and text as well.
    """
    count = np.arange(ROWS)
    unique = random.permutation(1_000)[:ROWS] + 1
    nulls = count == ROWS - 1
    seconds = random.integers(0, 2**31, ROWS)
    times = pd.Series((seconds * 10**9 + 123_456_789).astype("M8[ns]")).mask(nulls)
    zoned = pd.Series((seconds * 10**6 + 7).astype("M8[us]")).dt.tz_localize("UTC")
    words = random.permutation(_WORDS)
    objects = dict.fromkeys(["bytes", "dates", "decimals", "mixed"])
    objects["bytes"] = [bytes([each % 251]) + b"\0x" for each in unique]
    objects["dates"] = [dt.date(1970, 1, 1) + dt.timedelta(int(each)) for each in unique]
    objects["decimals"] = [Decimal(int(each)).scaleb(-2) for each in unique]
    objects["mixed"] = [1, "1", 1.0, b"1", 0, "", 2.5, *map(int, unique[7:])]
    df = pd.DataFrame(
        {
            "whole": unique + 2**53 + 1,
            "small": unique.astype("int32"),
            "unsigned": unique.astype("uint64") + np.uint64(2**63),
            "real": random.normal(0, 1e3, ROWS),
            "rounded": np.round(random.normal(0, 1e3, ROWS), 2),
            "single": random.normal(0, 1, ROWS).astype("float32"),
            "waves": unique + 1j * random.normal(0, 1, ROWS),
            "truth": unique % 2 == 0,
            "word": pd.array(words, "str"),
            "time": times,
            "at": zoned.dt.tz_convert("Europe/Prague"),
            "span": pd.Series((seconds + 1).astype("m8[s]")),
            "grade": pd.Categorical(words, sorted([*_WORDS, "unused"])),
            "rank": pd.Categorical(unique, sorted(unique), ordered=True),
            "maybe whole": pd.Series(unique).astype("Int64").mask(nulls),
            "maybe true": pd.Series(unique % 3 == 0).astype("boolean").mask(nulls),
            "maybe real": pd.Series(unique / 7).astype("Float64").mask(nulls),
            **{
                name: pd.Series(values, dtype=object).mask(nulls, None)
                for name, values in objects.items()
            },
            "lists": pd.array(
                [[int(each), None] for each in unique], pd.ArrowDtype(pa.list_(pa.int64()))
            ),
        }
    )
    df.loc[ROWS - 1, "real"] = np.nan
    df["truth"] = [True, False, *df.truth[2:]]
    return df


def _with(df, name, change):
    """Return the table with a changed column, the values of which are a function of those before."""
    found = df.copy()
    found.isetitem(df.columns.get_loc(name), change(df[name].copy()))
    return found


def _value(name, change):
    """Return a mutation of one value that is not null."""

    def mutate(df, random):
        row = int(random.integers(0, ROWS - 1))

        def changed(column):
            column = column.astype(object)
            column.iloc[row] = change(column.iloc[row])
            return column.astype(df[name].dtype)

        return _with(df, name, changed)

    return mutate


def _column(name, change):
    return lambda df, _: _with(df, name, change)


def _two_rows(random, column):
    first, other = random.choice(ROWS - 1, 2, replace=False)
    if column.dtype == bool or str(column.dtype) == "boolean":
        plain = column.fillna(value=False).to_numpy(bool)[:-1]
        first, other = int(np.flatnonzero(plain)[0]), int(np.flatnonzero(~plain)[0])
    return int(first), int(other)


def _swapped(name):
    def mutate(df, random):
        one, other = _two_rows(random, df[name])
        order = np.arange(ROWS)
        order[[one, other]] = other, one
        return _with(df, name, lambda column: column.iloc[order].set_axis(df.index))

    return mutate


def _null_moved(name):
    order = [ROWS - 1, *range(ROWS - 1)]
    return _column(name, lambda column: column.iloc[order].set_axis(column.index))


def _null(name):
    def mutate(df, random):
        order = np.arange(ROWS)
        order[random.integers(0, ROWS - 1)] = -1
        return _with(df, name, lambda column: column.reindex(order).set_axis(df.index))

    return mutate


def _renamed(old, new):
    return lambda df, _: df.rename(columns={old: new})


def _taken(order):
    return lambda df, _: df.iloc[order].reset_index(drop=True)


def _names_exchanged(df, _):
    names = list(df.columns)
    names[0], names[1] = names[1], names[0]
    return df.set_axis(names, axis=1)


def _object_of_type(before, after):
    def change(column):
        return pd.Series(
            [after if type(each) is type(before) and each == before else each for each in column]
        )

    return _column("mixed", lambda column: change(column).astype(object))


def _of_unit(name, unit):
    """Return a mutation of the unit alone, with the counts of another."""
    return _column(
        name,
        lambda column: pd.Series(column.astype("int64").to_numpy()).astype(
            f"{column.dtype.kind}8[{unit}]"
        ),
    )


_NULLABLE = ["real", "maybe whole", "maybe true", "maybe real", "time", "bytes", "dates", "decimals"]
_SWAPPED = [
    "whole",
    "unsigned",
    "real",
    "single",
    "waves",
    "truth",
    "word",
    "time",
    "at",
    "span",
    "grade",
]
_SWAPPED += ["rank", "maybe whole", "maybe true", "maybe real", "bytes", "dates", "decimals", "lists"]

WRONG = {
    **{f"two values of {name} swapped": _swapped(name) for name in _SWAPPED},
    **{f"a null of {name} moved": _null_moved(name) for name in _NULLABLE},
    **{f"a value of {name} null": _null(name) for name in [*_NULLABLE, "word", "grade"]},
    **{
        f"the sign of {name} flipped": _column(name, lambda column: -column)
        for name in ("real", "single")
    },
    **{
        f"{name} by an ulp": _column(name, lambda column: np.nextafter(column, column.dtype.type(1e9)))
        for name in ("real", "rounded", "single")
    },
    "a float by an ulp, nullable": _value("maybe real", lambda value: np.nextafter(value, 9)),
    "a float infinite": _value("real", lambda _: np.inf),
    "a float largest": _value("real", lambda _: np.finfo("float64").max),
    "a float null": _value("real", lambda _: np.nan),
    "a null zero": _column("real", lambda column: column.fillna(0.0)),
    "a null of nullable integers zero": _column("maybe whole", lambda column: column.fillna(0)),
    "the imaginary parts lost": _column("waves", lambda column: column.to_numpy().real.astype(complex)),
    "an imaginary part NaN": _value("waves", lambda value: complex(value.real, np.nan)),
    "an integer by one": _value("whole", lambda value: value + 1),
    "integers through floats": _column("whole", lambda column: column.astype(float)),
    "integers by a half": _column("small", lambda column: column + 0.5),
    "integers wrapped": _column("small", lambda column: column.astype("int64") + 2**32),
    "unsigned integers wrapped": _column("unsigned", lambda column: column.astype("int64")),
    "unsigned integers as floats": _column("unsigned", lambda column: column.astype(float)),
    "integers as text": _column("small", lambda column: column.astype(str)),
    "integers as times": _column("small", lambda column: column.astype("M8[ns]")),
    "floats as text": _column("real", lambda column: column.astype(str)),
    "floats as 32 bits": _column("real", lambda column: column.astype("float32")),
    "booleans inverted": _column("truth", lambda column: ~column),
    "booleans as text": _column("truth", lambda column: column.astype(str)),
    "booleans as other numbers": _column("truth", lambda column: column.astype(int) * 2),
    "empty text null": _column("word", lambda column: column.mask(column == "")),
    "text of other case": _value("word", lambda value: f"{value}A".swapcase()[:-1] + "x"),
    "text decomposed": _column(
        "word", lambda column: column.map(lambda t: unicodedata.normalize("NFD", t))
    ),
    "text composed": _column(
        "word", lambda column: column.map(lambda t: unicodedata.normalize("NFC", t))
    ),
    "text of Latin-1": _column(
        "word", lambda column: column.map(lambda t: t.encode().decode("latin-1"))
    ),
    "text with a byte order mark": _value("word", lambda value: "\ufeff" + value),
    "text with a NUL": _value("word", lambda value: value + "\0"),
    "text with a space": _value("word", lambda value: value + " "),
    "times cut to microseconds": _column("time", lambda column: column.dt.as_unit("us")),
    "times by a nanosecond": _column("time", lambda column: column + pd.Timedelta(1, "ns")),
    "times of another unit": _of_unit("time", "us"),
    "times as integers": _column("time", lambda column: column.astype("int64")),
    "zoned times by an hour": _column("at", lambda column: column + pd.Timedelta(hours=1)),
    "zoned times as local ones": _column("at", lambda column: column.dt.tz_localize(None)),
    "zoned times of another zone": _column(
        "at", lambda column: column.dt.tz_localize(None).dt.tz_localize("Asia/Kathmandu")
    ),
    "zoned times cut to seconds": _column("at", lambda column: column.dt.as_unit("s")),
    "spans of another unit": _of_unit("span", "ms"),
    "zoned times by a nanosecond": _column(
        "at", lambda column: column.dt.as_unit("ns") + pd.Timedelta(1, "ns")
    ),
    "spans by a millisecond": _column("span", lambda column: column + pd.Timedelta(1, "ms")),
    "spans as integers": _column("span", lambda column: column.astype("int64")),
    "categories exchanged": _column(
        "grade", lambda column: column.cat.rename_categories([*column.cat.categories[::-1]])
    ),
    "bytes as text": _column("bytes", lambda column: column.map(lambda b: b and b.decode("latin-1"))),
    "bytes cut at a NUL": _column("bytes", lambda column: column.map(lambda b: b and b.split(b"\0")[0])),
    "dates at noon": _column(
        "dates", lambda column: pd.to_datetime(column).dt.as_unit("s") + pd.Timedelta(hours=12)
    ),
    "dates by a day": _column("dates", lambda column: column + pd.Timedelta(days=1)),
    "decimals as floats": _column("decimals", lambda column: column.astype(float)),
    "decimals by a cent": _value("decimals", lambda value: value + Decimal("0.01")),
    "an integer object True": _object_of_type(1, True),
    "an integer object a float": _object_of_type(1, 1.0),
    "an integer object a text": _object_of_type(1, "1"),
    "a text object bytes": _object_of_type("1", b"1"),
    "a float object an integer": _object_of_type(1.0, 1),
    "an integer object zero False": _object_of_type(0, False),
    "lists cut": _column("lists", lambda column: pd.array([each[:1] for each in column], column.dtype)),
    "rows reversed": _taken(range(ROWS)[::-1]),
    "two rows swapped": _taken([1, 0, *range(2, ROWS)]),
    "a row lost": _taken(range(1, ROWS)),
    "a row doubled": _taken([0, *range(ROWS)]),
    "a row in place of another": _taken([1, *range(1, ROWS)]),
    "no rows": _taken([]),
    "an index": lambda df, _: df.set_axis(range(1, ROWS + 1)),
    "a named index": lambda df, _: df.rename_axis("id"),
    "an index of floats": lambda df, _: df.set_axis(np.arange(float(ROWS))),
    "names exchanged": _names_exchanged,
    "columns reversed": lambda df, _: df[df.columns[::-1]],
    "a column lost": lambda df, _: df.drop(columns="truth"),
    "a column more": lambda df, _: df.assign(more=1),
    "a name of other case": _renamed("whole", "Whole"),
    "a name with a NUL": _renamed("whole", "whole\0"),
    "a name with a space": _renamed("whole", "whole "),
    "a name with a byte order mark": _renamed("whole", "\ufeffwhole"),
    "a name in bytes": _renamed("whole", b"whole"),
}
"""Mutations with another value, row or name, by description."""

CHANGED = {
    "integers of more bits": ("small", lambda column: column.astype("int64")),
    "integers as whole floats": ("small", lambda column: column.astype(float)),
    "integers nullable": ("whole", lambda column: column.astype("Int64")),
    "nullable integers as floats": ("maybe whole", lambda column: column.astype(float)),
    "floats of more bits": ("single", lambda column: column.astype("float64")),
    "floats nullable": ("real", lambda column: column.astype("Float64")),
    "booleans as numbers": ("truth", lambda column: column.astype("int64")),
    "nullable booleans as objects": ("maybe true", lambda column: column.astype(object)),
    "text as objects": ("word", lambda column: column.astype(object)),
    "text as categories": ("word", lambda column: column.astype("category")),
    "times as text": (
        "time",
        lambda column: column.map(lambda t: t.isoformat(), "ignore").astype("str"),
    ),
    "times of Arrow": ("time", lambda column: column.astype(pd.ArrowDtype(pa.timestamp("ns")))),
    "zoned times of a finer unit": ("at", lambda column: column.dt.as_unit("ns")),
    "zoned times of a zone of equal offset": (
        "at",
        lambda column: column.dt.tz_convert("Europe/Berlin"),
    ),
    "zoned times as those of UTC": ("at", lambda column: column.dt.tz_convert(None)),
    "zoned times as text": ("at", lambda column: column.map(pd.Timestamp.isoformat).astype("str")),
    "spans of a finer unit": ("span", lambda column: column.dt.as_unit("ns")),
    "categories as text": ("grade", lambda column: column.astype("str")),
    "categories in another order": (
        "grade",
        lambda column: column.cat.reorder_categories([*column.cat.categories[::-1]]),
    ),
    "unused categories lost": ("grade", lambda column: column.cat.remove_unused_categories()),
    "categories ordered": ("grade", lambda column: column.cat.as_ordered()),
    "categories unordered": ("rank", lambda column: column.cat.as_unordered()),
    "categories of other integers": (
        "rank",
        lambda column: column.cat.rename_categories(column.cat.categories.astype("int32")),
    ),
    "dates as times": ("dates", lambda column: pd.to_datetime(column).dt.as_unit("s")),
    "decimals of another scale": (
        "decimals",
        lambda column: column.map(lambda each: each and each.quantize(Decimal("0.001"))),
    ),
}
"""Changes of dtypes that leave every value right: the column, and the function of it, by description."""
