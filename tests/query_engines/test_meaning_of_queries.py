"""Contract of query engines on nulls and extreme values: each kind of question has SQL's meaning.

`adapter_core.query` defines it. Answers are compared with NumPy's, of statements of SQL with answers
written here by hand.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import query_engines
from adapter_core import CannotHoldError, Comparison, Tunable, UnsupportedError
from adapter_core.predicate import DATES, DECIMALS, NUMBERS, TEXT, TIMES, ZONED_TIMES
from adapter_core.query import (
    COUNT,
    ENDS,
    GREATEST,
    LEAST,
    MEAN,
    SUM,
    Aggregate,
    Contains,
    Join,
    Nearest,
    OneOf,
    Order,
    Query,
)
from adapter_core.query_engine import Part
from adapter_core.query_sql import order_of
from format_bench.families.tables import reference
from format_bench.families.tables.subject import Subject
from format_bench.verification.answers import Answer, difference, missed_share
from tests.helpers import chosen, pair_of

PAIRS = chosen(query_engines, __name__)

TEXTS = ["needle", "Needle", "NEEDLE", "a needle", "", None, "a", "A", "\u00e9", "\u00c9", "e\u0301"]
TEXTS += [
    "K",
    "\u212a",
    "%",
    "_",
    "a_b",
    "aXb",
    "*",
    "[a]",
    "b'c",
    '"q"',
    "back\\slash",
    "\\'\\t",
    "line\nbreak",
]
TEXTS += ["0", "null", "", None, "\u017eluť", "\U0001f600", "\u017eluť"]
ROWS = len(TEXTS)
MANY = 2**53 + 1
INFINITE = float("inf")
FIRST, LAST = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)


# Floats have 0.1 and 0.2 as other numbers, and none of 36 digits.
AMOUNTS = [*map(Decimal, ("0.10", "0.20", "-1.00", "99999999.99", "0.20")), None]
DIGITS = [Decimal(7 * 10**35 + 1), None, Decimal(7 * 10**35), Decimal(-(10**35)), Decimal(0)]


def filled(*values):
    """Return values repeated up to the number of rows."""
    return [values[row % len(values)] for row in range(ROWS)]


def table():
    """Return a table with a column for each trap: formats leave out those that they cannot hold."""
    days = filled(FIRST, None, LAST, datetime.date(2026, 2, 28), datetime.date(1969, 12, 31))
    return pd.DataFrame(
        {
            "id": range(ROWS),
            "price": filled(2.5, None, -1.0, 0.25, 2.5, None, 7.0),
            "a.price": filled(None, 2.5, 0.0, -1.0),
            ".price": filled(1.5, None, -1.0, 1.5),
            "key": pd.Series(filled("a", None, "b", "", "a", "lost"), dtype="str"),
            "text": pd.Series(TEXTS, dtype="str"),
            "whole": pd.Series(filled(-(2**63), 0, 2**63 - 1, -1, MANY, 7), dtype="int64"),
            "maybe": pd.Series(filled(MANY, None, -5, 0, None, 3, -5), dtype="Int64"),
            "few": pd.Series(filled(3, None, -5, 0, None, 3, 8), dtype="Int64"),
            "small": pd.Series(filled(-128, 127, 0, 5), dtype="int8"),
            "medium": pd.Series(filled(2**31 - 1, 7, 2**31 - 1, -(2**31), 2**31 - 1), dtype="int32"),
            "natural": pd.Series(filled(2**64 - 1, 0, 5), dtype="uint64"),
            "real": filled(0.0, -0.0, None, 1.5, -2.5, 0.1, 1e300, 5e-324, None),
            "single": pd.Series(filled(0.1, None, -0.0, 3.5, 0.0), dtype="float32"),
            "masked": pd.Series(filled(1.5, None, -2.0), dtype="Float64"),
            "endless": filled(1.0, INFINITE, None, -0.0, 0.0, 2.0),
            "both_ends": filled(-INFINITE, 4.0, INFINITE, None),
            "none": filled(np.nan),
            "flag": pd.Series(filled(True, None, False), dtype="boolean"),
            "day": pd.Series(days, dtype="object"),
            "at": pd.Series(pd.to_datetime(days).to_numpy("datetime64[us]")),
            "kind": pd.Series(filled("x", None, "", "y"), dtype="category"),
            "amount": pd.Series(filled(*AMOUNTS), dtype="object"),
            "digits": pd.Series(filled(*DIGITS), dtype="object"),
            "span": pd.Series(
                pd.to_timedelta(filled("-1 days", None, "0.000001 s", "3 h")).as_unit("us")
            ),
            "clock": pd.Series(
                filled(datetime.time(7, 30, 0, 5), None, datetime.time()), dtype="object"
            ),
        }
    )


TABLE = table()
# In all groups of "lost" there is no price.
TABLE.loc[TABLE.key == "lost", "price"] = np.nan
TOWNS = pd.DataFrame(
    {
        "number": pd.Series([None, 3, -5, 11], dtype="Int64"),
        "town": pd.Series(["Nowhere", None, "Žďár", "Brno"], dtype="str"),
    }
)
LABELS = pd.DataFrame({"label": ["a", "", None, "z"], "worth": [1.0, 2.0, 3.0, 4.0]}).astype(
    {"label": "str"}
)
TABLES = {"data": TABLE, "towns": TOWNS, "labels": LABELS}

CONSTANTS = {
    "price": [2.5, 0.25],
    "a.price": [2.5],
    ".price": [1.5],
    "text": ["", "needle", "\u00c9", "a_b", "back\\slash", "\\'\\t", "b'c", "\u017eluť"],
    "key": ["a"],
    "whole": [-(2**63), 2**63 - 1, MANY, 0],
    "maybe": [MANY, -5],
    "few": [-5, 0],
    "small": [-128, 127, 0],
    "real": [0.0, -0.0, 0.1, 1e300, 5e-324],
    "single": [0.0, 3.5, INFINITE, -INFINITE],
    "masked": [1.5],
    "endless": [INFINITE, 1.0],
    "both_ends": [-INFINITE],
    "none": [0.0],
    "kind": ["", "x"],
    "amount": [Decimal("0.20"), Decimal("-1.00"), Decimal("99999999.99")],
    "digits": [Decimal(7 * 10**35 + 1), Decimal(0)],
}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
TYPES = {"at": TIMES, "day": DATES, **dict.fromkeys(("amount", "digits"), DECIMALS)}
TYPES |= dict.fromkeys(("text", "key", "kind"), TEXT)
SUMMED = ("few", "small", "price", "a.price", ".price", "real", "single", "masked", "none")
SUMMED += ("medium", "amount", "digits")


def conditions():
    for column, values in CONSTANTS.items():
        for value in values:
            yield from ([Comparison(column, each, value)] for each in OPERATORS)
        yield [OneOf(column, values)]
        yield [Comparison(column, ">=", min(values)), Comparison(column, "<=", max(values))]
    for value in (0, 5):
        yield from ([Comparison("natural", each, value)] for each in OPERATORS)
    for value in (True, False):
        yield from ([Comparison("flag", each, value)] for each in ("==", "!="))
    days = (FIRST, LAST, datetime.date(1969, 12, 31))
    moments = [datetime.datetime.combine(day, datetime.time()) for day in days]
    for moment in moments:
        yield from ([Comparison("at", each, moment)] for each in OPERATORS)
        yield from ([Comparison("day", each, moment.date())] for each in OPERATORS)
    yield [OneOf("at", moments)]
    yield [OneOf("day", days)]
    yield from ([Contains("text", word)] for word in ("needle", "NEEDLE", "K", "a"))
    yield [Comparison("price", "!=", 2.5), Comparison("text", "!=", ""), Comparison("flag", "!=", False)]


def aggregates(column):
    return [Aggregate(each, column) for each in (COUNT, SUM, LEAST, GREATEST, MEAN)]


def types(column):
    return {column: TYPES.get(column, NUMBERS)}


def queries():
    """Yield the names and the queries."""
    for where in conditions():
        name = " and ".join(map(repr, where))
        yield name, Query(columns=["id"], where=where)
    never = [Comparison("id", "<", -1)]
    for column in SUMMED:
        asked = {"aggregates": [Aggregate(COUNT), *aggregates(column)], "types": types(column)}
        yield f"aggregates of {column}", Query(**asked)
        yield f"aggregates of no {column}", Query(**asked, where=never)
        yield f"{column} by key", Query(**asked, groups=["key"])
    for column in ("whole", "maybe", "endless", "both_ends", "at", "day", "text", "kind"):
        ends = [Aggregate(each, column) for each in (LEAST, GREATEST, COUNT)]
        yield f"ends of {column}", Query(aggregates=ends, types=types(column))
        yield f"ends of no {column}", Query(aggregates=ends, types=types(column), where=never)
        for key in ("key", column):
            found = Query(groups=[key], aggregates=ends, types=types(column))
            yield f"ends of {column} by {key}", found
    endless = [Aggregate(each, "endless") for each in (SUM, MEAN)]
    found = [Aggregate(each, "endless") for each in ENDS]
    yield "ends of infinities", Query(aggregates=found, where=[Comparison("endless", "==", INFINITE)])
    yield "endless sum and mean", Query(aggregates=endless)
    yield "endless sums and means", Query(groups=["key"], aggregates=endless)
    for column in TABLE.columns:
        yield f"count of {column}", Query(aggregates=[Aggregate(COUNT, column)])
        yield f"all of {column}", Query(columns=dict.fromkeys(["id", column]))
        yield f"none of {column}", Query(columns=[column], where=never)
        yield f"rows of {column}", Query(columns=[column], positions=[0, 1, 5, ROWS - 1])
        found = Query(groups=[column], aggregates=[Aggregate(COUNT), *aggregates("price")])
        yield f"groups of {column}", found
    for column in (
        "price",
        "a.price",
        ".price",
        "maybe",
        "whole",
        "real",
        "endless",
        "both_ends",
        "at",
        "day",
        "amount",
        "digits",
        "text",
        "key",
        "kind",
    ):
        for descending in (False, True):
            for limit in (3, ROWS):
                order = Order(column, descending=descending)
                found = Query(columns=[column], order=order, limit=limit, types=types(column))
                yield f"{limit} by {order}", found
    partners = Join("towns", "few", "number", ["town"])
    yield "join", Query(columns=["id", "town"], join=partners)
    yield "join of some", Query(columns=["id", "town"], join=partners, where=[OneOf("key", ["a"])])
    named = Join("labels", "key", "label", ["worth"])
    yield "join by text", Query(columns=["id", "worth"], join=named)
    found = Query(groups=["town"], aggregates=[Aggregate(COUNT), *aggregates("price")], join=partners)
    yield "groups of joined rows", found
    yield "rows", Query(aggregates=[Aggregate(COUNT)])
    yield "shape", Query(shape=True)


QUERIES = dict(queries())


UNTYPED = {
    "Avro[chdb]": {"clock"},
    "CSV[datafusion]": {"natural", "none"},
    "CSV[duckdb]": {"both_ends", "none"},
    "CSV[polars]": {"natural", "none"},
    "CSV[pyarrow]": {"natural"},
    "Feather[polars]": {"kind"},
    "GeoJSON[duckdb.spatial]": {"none"},
    "GeoJSON[geopandas]": {"none"},
    "GeoParquet[duckdb.spatial]": {"span"},
    "JSON[chdb]": {"natural", "none"},
    "JSON[daft]": {"natural", "none"},
    "JSON[datafusion]": {"natural", "none"},
    "JSON[polars]": {"natural"},
    "JSON[pyarrow]": {"natural"},
    "Lance[duckdb]": {"span"},
    "Parquet[chdb]": {"span", "clock"},
    "Parquet[duckdb]": {"span"},
    "Parquet[pandas]": {"natural"},
}
"""Columns whose type an engine takes for another one, or does not compare, as its note says."""


def held(pair, df):
    """Return the columns of a table that a format can hold, and an engine understands."""
    names = []
    for name in df.columns.difference(UNTYPED.get(pair.label, ()), sort=False):
        try:
            pair.format.check(df[[name]])
        except CannotHoldError:
            continue
        names.append(name)
    return df[names]


def names_of(query):
    used = {*query.read, *query.groups}
    return used - {*query.join.columns} if query.join else used


@cache
def right_answer(name):
    """Return NumPy's answer; None if libraries may differ."""
    try:
        return reference.answer(QUERIES[name], TABLES)
    except UnsupportedError:
        return None


def differences(pair, tables, file, *, is_sorted=False):
    """Return the difference of each answer that is none of NumPy's, and the number of right ones."""
    engine, label = pair.engine, pair.format.label
    handle = engine.open(label, pair.paths(file, tables))
    found, right = {}, 0
    names = [
        name
        for name, query in QUERIES.items()
        if names_of(query) <= {*tables["data"].columns}
        and not (query.join and query.join.table not in tables)
        and not (query.positions and is_sorted)
    ]
    # ROOT compiles each condition, for up to two seconds; others take 30 ms for any answer.
    step = {"RDataFrame": 11, "dask": 5}.get(engine.label, 3 if label.startswith("HDF5") else 1)
    names = [each for place, each in enumerate(names) if not QUERIES[each].where or place % step == 0]
    for name in names:
        query = QUERIES[name]
        try:
            pair.check_query(query)
        except UnsupportedError:
            continue
        if (wanted := right_answer(name)) is None:
            continue
        if query.shape:
            wanted = Answer(pa.table({"rows": [ROWS], "columns": [len(tables["data"].columns)]}))
        try:
            differs = difference(engine.answer(handle, query), wanted)
        except UnsupportedError:  # as the library finds when it is asked
            continue
        except Exception as error:
            differs = f"{type(error).__name__}: {error}"
        if differs:
            found[name] = differs
        right += not differs
    engine.close(handle)
    return found, right


def differing(pair, file, queries, data):
    """Return the differences of answers to queries to a saved table from NumPy's, by query."""
    handle = pair.engine.open(pair.format.label, pair.paths(file))
    found = {}
    for query in queries:
        try:
            answer = pair.engine.answer(handle, query)
        except UnsupportedError as error:
            assert re.search("pylance refuses the condition|no order, ends or sums of cat", str(error))
            continue
        if differs := difference(answer, reference.answer(query, {"data": data})):
            found[str(query)] = differs
    pair.engine.close(handle)
    return found


LEAST_RIGHT = {"RDataFrame": 60}


def answers_questions(label):
    """Return whether a pair answers more than questions for neighbours."""
    pair = query_engines.find(label)
    return not pair.engine.unsupported(pair.format.label, Query(columns=["id"]))


WITH_QUESTIONS = [each for each in PAIRS if answers_questions(each)]


@pytest.mark.parametrize("label", WITH_QUESTIONS)
def test_nulls_and_extremes_are_answered_as_sql_means_them(label, tmp_path):
    pair = pair_of(label)
    tables = {name: held(pair, df) for name, df in TABLES.items()}
    # Without its key, the second table of a join is of no use.
    tables = {
        name: df for name, df in tables.items() if name == "data" or df.shape == TABLES[name].shape
    }
    assert {"id", "price", "key", "text"} <= {*tables["data"].columns}
    pair.save(tables, tmp_path / "file.tables")
    found, right = differences(pair, tables, tmp_path / "file.tables")
    assert found == {}
    assert right >= LEAST_RIGHT.get(pair.engine.label, 120)
    assert label not in UNTYPED or pair.format.label in pair.engine.notes


# DuckDB hands no conditions to a data set of Arrow with views, as the texts of Vortex are.
@pytest.mark.parametrize("label", [each for each in WITH_QUESTIONS if each.endswith("[duckdb]")])
def test_a_table_of_numbers_alone_is_answered_as_sql_means_it(label, tmp_path):
    pair = pair_of(label)
    data = held(pair, TABLE)
    data = data[[name for name in data.columns if data[name].dtype.kind in "iuf"]]
    assert {"id", "price"} <= {*data.columns}
    pair.save({"data": data}, tmp_path / "file.tables")
    found, right = differences(pair, {"data": data}, tmp_path / "file.tables")
    assert found == {}
    assert right >= 120
    all_columns = Query(columns=data.columns, where=[Comparison("price", ">=", 0.25)])
    assert differing(pair, tmp_path / "file.tables", [all_columns], data) == {}


UNITS = ("s", "ms", "us", "ns")
ZONED = {"zoned_s": "UTC", "zoned_ms": "Europe/Prague", "zoned_us": "Europe/Prague", "zoned_ns": "UTC"}
MOMENT = "2024-02-29 12:30:15"
SUMMER = "2236-08-12 02:58:01"


def times_of_all_units():
    """Return a table with columns of times of each unit, whose values are finer where they can be.

    Two are the same local time in Prague, before and after its summer time ended, and one is in a summer
    that libraries have no rules for.
    """
    moments = ["1969-12-31 23:59:59", None, "2000-01-01", "2024-10-27 00:30", "2024-10-27 01:30", SUMMER]
    finer = pd.TimedeltaIndex([0, 1, 0, 0, 999, 0, 0, 0])
    columns = {
        unit: pd.DatetimeIndex([MOMENT, MOMENT, *moments]).as_unit(unit) + finer.as_unit(unit)
        for unit in UNITS
    }
    zoned = {
        name: columns[name.removeprefix("zoned_")].tz_localize("UTC").tz_convert(zone)
        for name, zone in ZONED.items()
    }
    key = pd.Series(list("abcbaabc"), dtype="str")
    return pd.DataFrame({"id": range(len(key)), "key": key} | columns | zoned)


def queries_on_times(subject, column):
    """Yield queries with constants inside and outside of the range of nanoseconds, and finer ones."""
    values = [pd.Timestamp(each).to_pydatetime() for each in (MOMENT, "2024-10-27 01:30", SUMMER)]
    values += [values[0] + datetime.timedelta(microseconds=1)]
    values += [datetime.datetime.combine(day, datetime.time()) for day in (FIRST, LAST)]
    if column in ZONED:
        values = [each.replace(tzinfo=datetime.UTC) for each in values]
        values += [values[1].astimezone(datetime.timezone(datetime.timedelta(hours=-5)))]
    found = [subject.fitted(Comparison(column, each, value)) for value in values for each in OPERATORS]
    for each in found:
        yield Query(columns=["id"], where=[each])
    yield Query(columns=["id"], where=[OneOf(column, {each.value for each in found})])
    ends = [Aggregate(LEAST, column), Aggregate(GREATEST, column)]
    found = {column: ZONED_TIMES if column in ZONED else TIMES}
    for groups in ((), ("key",)):
        yield Query(groups=groups, aggregates=ends, types=found)
    for descending in (False, True):
        order = Order(column, descending=descending)
        yield Query(columns=[column], order=order, limit=3, types=found)


def compares_times(label):
    pair = query_engines.find(label)
    return pair.format.label in pair.engine.compares_times


# The library loses the nanoseconds, as its note says, and a run finds it.
LOST_UNITS = {
    "Avro[polars]": {"ns", "zoned_ns"},
    "CSV[duckdb]": {"ns", "zoned_ns"},
    "GeoParquet[duckdb.spatial]": {"zoned_ns"},
    "JSON[datafusion]": {"zoned_ns"},
    "Parquet[daft]": {"zoned_ns"},
}
WITHOUT_ZONES = {"Lance[polars]", "SQLite[sqlite3]"}


@pytest.mark.parametrize("label", [each for each in PAIRS if compares_times(each)])
def test_times_of_any_unit_compare_with_constants_of_microseconds(label, tmp_path):
    pair = pair_of(label)
    data = held(pair, times_of_all_units())
    subject = Subject("times", {"data": data})
    pair.save({"data": data}, tmp_path / "file.tables")
    columns = {*UNITS, *ZONED} & {*data.columns} - LOST_UNITS.get(label, set())
    assert {"us", "zoned_us"} <= columns
    assert label not in LOST_UNITS or "nanoseconds" in pair.engine.notes[pair.format.label]
    queries = [query for column in columns for query in queries_on_times(subject, column)]
    refused = [query for query in queries if pair.engine.unsupported(pair.format.label, query)]
    assert bool(refused) == (label in WITHOUT_ZONES)
    assert all(query.compares_zoned_times for query in refused)
    queries = [query for query in queries if query not in refused]
    assert differing(pair, tmp_path / "file.tables", queries, data) == {}


FINER = (0.2, 0.2001, -0.1999, 5, 1e300, -1e300, Decimal("0.20"), Decimal("1e-9"))


def compares_decimals(label):
    pair = query_engines.find(label)
    return pair.format.label in pair.engine.compares_decimals


@pytest.mark.parametrize("label", [each for each in PAIRS if compares_decimals(each)])
def test_decimals_compare_with_any_numbers(label, tmp_path):
    """Where a format has no decimals, or floats in their place, it refuses the table."""
    pair = pair_of(label)
    data = held(pair, TABLE)[["id", "key", "amount"]]
    subject = Subject("money", {"data": data})
    pair.save({"data": data}, tmp_path / "file.tables")
    found = [subject.fitted(Comparison("amount", way, each)) for each in FINER for way in OPERATORS]
    found += [OneOf("amount", [*dict.fromkeys(each.value for each in found)])]
    queries = [Query(columns=["id"], where=[each]) for each in found]
    queries += [Query(columns=["id"], where=subject.between("amount", 0.3))]
    assert not [query for query in queries if pair.engine.unsupported(pair.format.label, query)]
    assert all(query.compares_decimals for query in queries)
    assert differing(pair, tmp_path / "file.tables", queries, data) == {}


MOMENTS = pd.DatetimeIndex([MOMENT, None, "1969-12-31", "2024-02-29", MOMENT]).as_unit("us")
CATEGORIES = pd.DataFrame(
    {
        "id": range(len(MOMENTS)),
        "key": pd.Series(list("abcba"), dtype="str"),
        "of_times": pd.Series(MOMENTS).astype("category"),
        "of_integers": pd.Categorical([7, None, 5, -3, 5]),
        "of_floats": pd.Categorical([2.5, None, -1.0, 0.0, 2.5]),
    }
)


def queries_on_categories(subject, column):
    value = subject.value(column, 0.4)
    found = [subject.fitted(Comparison(column, each, value)) for each in ("==", "!=", "<", ">=")]
    for each in found:
        yield Query(columns=["id"], where=[each])
    yield Query(columns=["id"], where=[OneOf(column, [found[0].value])])
    yield Query(groups=[column], aggregates=[Aggregate(COUNT)])
    found = {column: TIMES} if column == "of_times" else {}
    for groups in ((), ("key",)):
        ends = [Aggregate(LEAST, column), Aggregate(GREATEST, column)]
        yield Query(groups=groups, aggregates=ends, types=found)
    yield Query(columns=[column], order=Order(column, descending=True), limit=2, types=found)


@pytest.mark.parametrize("label", WITH_QUESTIONS)
def test_categories_are_compared_by_their_values(label, tmp_path):
    pair = pair_of(label)
    data = held(pair, CATEGORIES)
    columns = [each for each in data.columns if each.startswith("of_")]
    columns = [each for each in columns if each != "of_times" or compares_times(label)]
    if "kind" in UNTYPED.get(label, ()) or not columns:
        pytest.skip("it stores no categories, or does not read those with nulls, as its note says")
    pair.save({"data": data}, tmp_path / "file.tables")
    subject = Subject("mine", {"data": data})
    queries = [query for column in columns for query in queries_on_categories(subject, column)]
    assert differing(pair, tmp_path / "file.tables", queries, data) == {}


# To Dask, the files differ in the order of rows alone.
TUNED = [
    each
    for each in WITH_QUESTIONS
    if isinstance(query_engines.find(each).format, Tunable) and "[dask]" not in each
]


@pytest.mark.parametrize("label", TUNED)
def test_tuned_files_are_answered_as_sql_means_them(label, tmp_path):
    pair = pair_of(label)
    data = held(pair, TABLE)
    lookups = [each for each in ("text", "few", "real", "whole", "endless") if each in data.columns]
    pair.save_tuned({"data": data}, tmp_path / "file.tables", {"data": (["price"], lookups)})
    found, right = differences(pair, {"data": data}, tmp_path / "file.tables", is_sorted=True)
    assert found == {}
    assert right >= LEAST_RIGHT.get(pair.engine.label, 120)
    no_row = Query(columns=["id"], where=[Comparison("price", ">", 7.0)])
    assert differing(pair, tmp_path / "file.tables", [no_row], data) == {}


FEW = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 5],
        "key": pd.Series(["a", None, "a", "", None], dtype="str"),
        "price": [2.0, None, -1.0, None, 4.0],
    }
)
STATEMENTS = {
    "SELECT id FROM data WHERE NOT (price > 1) ORDER BY id": {"id": [3]},
    "SELECT id FROM data WHERE price <> 2 ORDER BY id": {"id": [3, 5]},
    "SELECT id FROM data WHERE key NOT IN ('a') ORDER BY id": {"id": [4]},
    "SELECT id FROM data WHERE price NOT BETWEEN 0 AND 3 ORDER BY id": {"id": [3, 5]},
    "SELECT id FROM data WHERE price > 1 OR price IS NULL ORDER BY id": {"id": [1, 2, 4, 5]},
    "SELECT DISTINCT key FROM data ORDER BY key NULLS LAST": {"key": ["", "a", None]},
    "SELECT key, count(*) AS n, count(price) AS p, max(price) AS m FROM data GROUP BY key "
    "ORDER BY key NULLS FIRST": {
        "key": [None, "", "a"],
        "n": [2, 1, 2],
        "p": [1, 0, 2],
        "m": [4.0, None, 2.0],
    },
    "SELECT count(*) AS n, count(key) AS k, count(DISTINCT key) AS d FROM data": {
        "n": [5],
        "k": [3],
        "d": [2],
    },
    "SELECT min(price) AS l, max(price) AS g, avg(price) AS m, count(price) AS n FROM data "
    "WHERE id > 9": {"l": [None], "g": [None], "m": [None], "n": [0]},
    "SELECT sum(price) AS s FROM data WHERE id > 9": {"s": [None]},
    "SELECT key, sum(price) AS s FROM data GROUP BY key ORDER BY key NULLS LAST": {
        "key": ["", "a", None],
        "s": [None, 1.0, 4.0],
    },
    "SELECT id, price FROM data ORDER BY price DESC NULLS LAST, id": {
        "id": [5, 1, 3, 2, 4],
        "price": [4.0, 2.0, -1.0, None, None],
    },
    "SELECT one.id FROM data AS one JOIN data AS two ON one.key = two.key WHERE one.id <> two.id "
    "ORDER BY one.id": {"id": [1, 3]},
}
WITH_SQL = [each for each in PAIRS if Part.SQL in query_engines.find(each).engine.does]


def written(statement):
    """Return the right answer to a statement."""
    return Answer(pa.table(STATEMENTS[statement]), order=order_of(statement))


def test_the_reference_answers_statements_as_sql_means_them():
    for statement in STATEMENTS:
        found = reference.answer(Query(statement=statement), {"data": FEW})
        assert found.order == order_of(statement)
        assert difference(found.table, written(statement)) == "", statement


@pytest.mark.parametrize("label", WITH_SQL)
def test_statements_are_answered_as_sql_means_them(label, tmp_path):
    pair = pair_of(label)
    pair.save({"data": FEW}, tmp_path / "file.tables")
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "file.tables"))
    found = {}
    for statement in STATEMENTS:
        query = Query(statement=statement)
        if pair.engine.unsupported(pair.format.label, query):
            continue
        try:
            answer = pair.engine.answer(handle, query)
        except UnsupportedError as error:
            assert "pylance refuses the condition" in str(error)
            continue
        differs = difference(answer, written(statement))
        if differs:
            found[statement] = differs
    pair.engine.close(handle)
    assert found == {}


@pytest.mark.parametrize(
    "statement", ["SELECT id FROM data ORDER BY price", "SELECT id FROM data ORDER BY price LIMIT 1"]
)
def test_a_statement_whose_answer_depends_on_the_place_of_nulls_is_not_asked(statement):
    with pytest.raises(UnsupportedError, match="write NULLS FIRST or NULLS LAST"):
        reference.answer(Query(statement=statement), {"data": FEW})


def test_nan_beside_nulls_is_not_asked_for():
    values = pd.arrays.ArrowExtensionArray(pa.chunked_array([[1.0, float("nan"), None]]))
    data = pd.DataFrame({"x": values})
    with pytest.raises(UnsupportedError, match="NaN beside nulls"):
        reference.answer(Query(columns=["x"]), {"data": data})


def vectors(rows=60, length=8):
    """Return a table of vectors, whose first and last one are null, and others."""
    numbers = np.random.default_rng(7).random((rows, length), np.float32)
    lists = [None if row % 7 == 3 or row in {0, rows - 1} else numbers[row] for row in range(rows)]
    found = pa.chunked_array([pa.array(lists, pa.list_(pa.float32(), length))])
    return pd.DataFrame({"id": range(rows), "vector": pd.arrays.ArrowExtensionArray(found)})


VECTORS = vectors()
# The second one has more neighbours than there are vectors.
NEAREST = [
    Query(columns=["id"], nearest=Nearest("vector", [[0.25] * 8, [0.75] * 8], count))
    for count in (5, len(VECTORS) - 1)
]


def finds_neighbours(label):
    pair = query_engines.find(label)
    try:
        pair.engine.check(pair.format.label, NEAREST[0])
    except UnsupportedError as error:
        assert "it computes no distances of vectors" in str(error)
        return False
    return True


def test_the_reference_leaves_null_vectors_out():
    known = VECTORS["vector"].notna().to_numpy()
    places = np.array([row for row in VECTORS["vector"] if row is not pd.NA], np.float64)
    distances = np.linalg.norm(places - 0.25, axis=1)
    nearest = VECTORS["id"][known].to_numpy()[np.argsort(distances)]
    few, all_of_them = (reference.answer(each, {"data": VECTORS}) for each in NEAREST)
    assert few.table.column("id").to_pylist()[:5] == nearest[:5].tolist()
    assert (few.group_rows, all_of_them.group_rows) == (5, known.sum())
    assert all_of_them.table.column("id").to_pylist()[: known.sum()] == nearest.tolist()


INTEGERS = pd.DataFrame(
    {
        "id": range(4),
        "vector": pd.arrays.ArrowExtensionArray(
            pa.array([[0, 1], [1, 1], [2, 9], [40, 90]], pa.list_(pa.int32(), 2))
        ),
    }
)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float64"])
@pytest.mark.parametrize("label", PAIRS)
def test_vectors_of_any_numbers_have_neighbours_of_one_vector_with_fractions(label, dtype, tmp_path):
    pair = pair_of(label)
    if not finds_neighbours(label):
        return
    of = pa.list_(getattr(pa, dtype)(), 2)
    df = INTEGERS.assign(vector=INTEGERS["vector"].astype(pd.ArrowDtype(of)))
    try:
        pair.save({"data": df}, tmp_path / "tables")
        handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "tables"))
    except CannotHoldError:
        return
    except duckdb.NotImplementedException as error:
        assert dtype == "float16"
        assert "Unsupported Internal Arrow Type e" in str(error)
        return
    # Without the fraction, the first row would be the nearest.
    query = Query(columns=["id"], nearest=Nearest("vector", [[0.75, 1.0]], 1))
    assert reference.answer(query, {"data": df}).table.column("id").to_pylist() == [1]
    assert pair.engine.answer(handle, query).column("id").to_pylist() == [1]
    pair.engine.close(handle)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_neighbours_among_vectors_that_are_not_finite_are_not_asked_for(value):
    vector = pa.array([[0.0, 1.0], [value, 1.0]], pa.list_(pa.float64(), 2))
    df = pd.DataFrame({"id": [0, 1], "vector": pd.arrays.ArrowExtensionArray(vector)})
    query = Query(columns=["id"], nearest=Nearest("vector", [[0, 0]], 1))
    with pytest.raises(UnsupportedError, match="'vector' has vectors with NaN or infinity"):
        reference.answer(query, {"data": df})


@pytest.fixture
def one_thread():
    """Build graphs of vectors by one thread: of several, USearch may lose some of the first vectors."""
    count = pa.cpu_count()
    pa.set_cpu_count(1)
    yield
    pa.set_cpu_count(count)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("track", ["defaults", "tuned"])
@pytest.mark.parametrize("label", [each for each in PAIRS if finds_neighbours(each)])
def test_a_null_vector_is_near_to_nothing(label, track, tmp_path):
    pair, tables, file = pair_of(label), {"data": VECTORS}, tmp_path / "file.tables"
    try:
        if track == "tuned":
            pair.save_tuned(tables, file, {"data": ([], ["vector"])})
        else:
            pair.save(tables, file)
    except CannotHoldError as error:
        assert re.search("vector|tune", str(error))
        return
    handle = pair.engine.open(pair.format.label, pair.paths(file, tables))
    for query in NEAREST:
        assert missed_share(pair.engine.answer(handle, query), reference.answer(query, tables)) == 0
    pair.engine.close(handle)


@pytest.mark.parametrize("label", WITH_QUESTIONS)
@pytest.mark.parametrize("name", ["rowid", "file_row_number"])
def test_a_column_with_the_name_of_row_numbers_hides_none(label, name, tmp_path):
    pair = pair_of(label)
    path = tmp_path / "file.tables"
    engine, query = pair.engine, Query(columns=["a"], positions=(0, 2))
    if reason := engine.unsupported(pair.format.label, query):
        pytest.skip(reason)
    pair.save({"data": pd.DataFrame({name: [2, 3, 1, 0], "a": [10, 20, 30, 40]})}, path)
    handle = engine.open(pair.format.label, pair.paths(path))
    try:
        assert sorted(engine.answer(handle, query)["a"].to_pylist()) == [10, 30]
    except UnsupportedError as error:
        assert name in str(error)
    finally:
        engine.close(handle)
