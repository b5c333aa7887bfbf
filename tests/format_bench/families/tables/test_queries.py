"""Queries to tables: their declaration, their answers, and their measurement."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import data_formats
import data_generator
import query_engines
from adapter_core import UnsupportedError
from adapter_core.errors import InvalidQuestionsError, WrongValuesError
from adapter_core.kinds import Kind
from adapter_core.predicate import DATES, DECIMALS, TEXT, TIMES, ZONED_TIMES
from data_generator.datasets import kaons
from format_bench.families.measuring import measure_steps
from format_bench.families.questions import Question, declared
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import query_of
from format_bench.families.tables.operations import TableOperations, TableQuery, query_to
from format_bench.families.tables.subject import Subject
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, SUITES, compared_with
from format_bench.runner.plan import RunRequest, plan
from format_bench.verification.answers import difference

FAMILY = FAMILIES["tables"]
STEPS = [FAMILY.step_of("query time", cache) for cache in ("warm", "cold")]
ROWS = 3000


@pytest.fixture(scope="module")
def events():
    return data_generator.table("kaons", rows=ROWS).df


@pytest.fixture
def measured(events, tmp_path):
    """Return operations of Parquet on saved events, and the file."""
    TableOperations.store(events, tmp_path / "data")
    operations = TableOperations(data_formats.get("Parquet"))
    operations.expect(tmp_path / "data")
    operations.save(events, file := tmp_path / "file.parquet")
    return operations, file


def test_the_queries_read_the_columns_of_the_review():
    found = declared("tables").to().by_name
    assert list(found) == ["full", "cut", "sparse"]
    kinds = dict.fromkeys(kaons.COLUMNS, Kind.FLOAT)
    full, cut, sparse = (query_to(each, kinds) for each in found.values())
    assert len(cut.read) == 21
    assert len(sparse.read) == 2
    assert full.read == list(kaons.COLUMNS)
    assert {*cut.read} <= {*kaons.COLUMNS}


def test_stored_tables_give_their_columns_without_being_loaded(events, tmp_path):
    TableOperations.store(events, tmp_path / "data")
    with (tmp_path / "data").open("r+b") as file:
        file.truncate(2000)  # after the names
    operations = TableOperations(data_formats.get("CSV"))
    operations.expect(tmp_path / "data")
    assert list(operations.column_kinds) == list(kaons.COLUMNS)
    assert operations.column_kinds["H1_PX"] == Kind.FLOAT
    assert operations.column_kinds["H1_Charge"] == Kind.INTEGER


def test_what_is_no_number_is_not_added_up():
    (full,) = (each for name, each in declared("tables").to().by_name.items() if name == "full")
    assert query_to(full, {"a": Kind.BOOLEAN, "b": Kind.UNSIGNED}).read == ["a", "b"]
    with pytest.raises(
        UnsupportedError, match="question 'full': column 'b' contains integers with nulls"
    ):
        query_to(full, {"a": Kind.FLOAT, "b": Kind.NULLABLE_INTEGER, "c": Kind.TEXT})


def test_an_answer_counts_and_adds_up_what_is_selected(measured, events):
    operations, file = measured
    opened = operations.open_query("cut", file)
    answer = opened.read()
    passing = events[(events.H1_isMuon == 0) & (events.H2_isMuon == 0) & (events.H3_isMuon == 0)]
    assert answer.rows == len(passing) < len(events)
    assert answer.sums["H3_Charge"] == passing.H3_Charge.sum()
    assert opened.verify(answer, events) == f"{len(passing):,} rows, 18 sums equal to NumPy's"


def test_other_sums_and_other_numbers_of_rows_are_refused(measured, events):
    operations, file = measured
    opened = operations.open_query("sparse", file)
    answer = opened.read()
    off = answer.sums["H1_PX"] + 1e-6 * float(events.H1_PX.abs().sum())
    with pytest.raises(WrongValuesError, match=r"column 2, sum_H1_PX, is [-\d.]+ instead of"):
        opened.verify(answer._replace(sums={"H1_PX": off}), events)
    with pytest.raises(WrongValuesError, match="sum_H1_PX, is nan instead of"):
        opened.verify(answer._replace(sums={"H1_PX": float("nan")}), events)
    with pytest.raises(WrongValuesError, match=r"count_rows, is \d+ instead of"):
        opened.verify(answer._replace(rows=answer.rows + 1), events)


def test_a_table_without_the_columns_is_unsupported(tmp_path):
    TableOperations.store(data_generator.table("eq", rows=5).df, tmp_path / "data")
    operations = TableOperations(data_formats.get("CSV"))
    operations.expect(tmp_path / "data")
    with pytest.raises(UnsupportedError, match=r"'full': column '\w+' contains text"):
        operations.check_query("full")
    with pytest.raises(UnsupportedError, match="question 'sparse': the table has no column H1_isMuon"):
        operations.check_query("sparse")


def test_warm_and_cold_queries_are_measured(measured, events):
    operations, file = measured
    try:
        page_cache.make_cold(file)
    except page_cache.NotColdError as error:
        pytest.skip(str(error))
    found = measure_steps(STEPS, operations, lambda: events, file, Effort(1.5, min_repeats=2))
    by_key = {(each.metric, each.query): each for each in found["cold query"]}
    assert {query for _, query in by_key} == {"full", "cut", "sparse"}
    assert all(each.status is CellStatus.VALUE and len(each.repeats) >= 2 for each in by_key.values())
    size = operations.adapter.size_bytes(file)
    assert 0 < by_key["query bytes", "full"].repeats[0] <= 2 * size
    assert {each.metric for each in found["query"]} == {"query time", "query CPU time"}


def test_a_wrong_answer_leaves_the_others_their_values(measured, events, monkeypatch):
    operations, file = measured
    read = TableQuery.read

    def skewed(query):
        answer = read(query)
        return answer._replace(rows=0) if len(query._columns) == 18 else answer

    monkeypatch.setattr(TableQuery, "read", skewed)
    found = measure_steps(STEPS[:1], operations, lambda: events, file, Effort(0.01, min_repeats=1))
    statuses = {each.query: each.status for each in found["query"]}
    assert statuses == {"full": "value", "cut": "failed", "sparse": "value"}


def test_the_suite_measures_the_adapters_of_all_groups():
    cases = plan(RunRequest("analysis")).cases
    assert {case.format for case in cases} == {*data_formats.registry.names()}
    assert compared_with("analysis") == "analysis"
    assert compared_with("engines") == "tabular"
    assert "query" not in SUITES["tabular"].steps


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ({"a.b": [1, 2], "c": [3, 4]}, [1, 2]),
        ({"a": [{"b": 1}, None], "c": [3, 4]}, [1, None]),
        ({"a": [{"b": 1}, None], "a.b": [5, 6], "c": [3, 4]}, [5, 6]),
        ({"ab": [1, 2], "c": [3, 4]}, "the table has no column a.b; did you mean 'ab'"),
    ],
)
def test_a_dot_is_a_letter_of_a_column_and_leads_to_fields_of_records(table, wanted):
    tables = {"data": pd.DataFrame(table)}
    subject = Subject("mine", tables)
    if isinstance(wanted, str):
        with pytest.raises(InvalidQuestionsError, match=re.escape(wanted)):
            query_of(question(columns=["c", "a.b"]), subject)
        return
    found = reference.answer(query_of(question(columns=["c", "a.b"]), subject), tables)
    assert found.table["a.b"].to_pylist() == wanted


def question(**fields):
    return Question("mine", "mine", fields, file="mine.toml")


def counted(subject, tables, **where):
    """Return the number of rows for which a condition is true."""
    query, rows = query_and_count(subject, tables, **where)
    assert query.compares_times == (where["column"] != "amount")
    assert query.compares_dates == (where["column"] == "day")
    assert query.compares_decimals == (where["column"] == "amount")
    return rows


def query_and_count(subject, tables, **where):
    """Return the query of a condition, and the number of rows for which that is true."""
    query = query_of(question(aggregates=["count"], where=[where]), subject)
    (rows,) = reference.answer(query, tables).table["count_rows"].to_pylist()
    return query, rows


def with_ends_and_order(subject, tables, column, values):
    """Check the ends and the last rows of a column that ascends; return the query for the ends."""
    ends = query_of(question(aggregates=[f"min({column})", f"max({column})"]), subject)
    (row,) = reference.answer(ends, tables).table.to_pylist()
    assert row == {f"min_{column}": values[0], f"max_{column}": values[-1]}
    last = query_of(question(columns=["id"], order=column, descending=True, limit=2), subject)
    ids = reference.answer(last, tables).table["id"].to_pylist()
    assert ids == [len(values) - 1, len(values) - 2]
    return ends


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_have_ends_an_order_ranges_and_constants(unit):
    moments = pd.date_range("2024-01-01", periods=1000, freq="min").as_unit(unit)
    tables = {"data": pd.DataFrame({"at": moments, "id": range(1000)})}
    subject = Subject("mine", tables)
    ends = with_ends_and_order(subject, tables, "at", moments)
    assert ends.types == {"at": TIMES}
    assert ends.compares_times
    for where, rows in (
        ({"share": 0.1}, 100),
        ({"share": 1}, 1000),
        ({"operator": ">=", "at": 0.25}, 750),
        ({"one_of_at": [0.25, 0.5]}, 2),
    ):
        assert counted(subject, tables, column="at", **where) == rows
    with pytest.raises(InvalidQuestionsError, match=r"sum of 'at', which contains times"):
        query_of(question(aggregates=["min(at)", "sum(at)"]), subject)


def test_times_between_microseconds_are_no_constants_and_ranges_go_around_them():
    moments = pd.Timestamp("1969-12-31 23:59:59.9999") + pd.to_timedelta(range(0, 400_000, 4), "ns")
    tables = {"data": pd.DataFrame({"at": moments.as_unit("ns") + pd.Timedelta(1, "ns")})}
    subject = Subject("mine", tables)
    where = [{"column": "at", "operator": "==", "at": 0}]
    with pytest.raises(UnsupportedError, match="has nanoseconds, which constants do not have"):
        query_of(question(aggregates=["count"], where=where), subject)
    for share, rows in ((1, 100_000), (0.5, 50_000), (1e-5, 1)):
        assert rows <= counted(subject, tables, column="at", share=share) <= rows + 500


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_times_with_a_zone_compare_by_their_moments(zone, tmp_path):
    moments = pd.date_range("2024-01-01", periods=1000, freq="min", tz="UTC").tz_convert(zone)
    tables = {"data": pd.DataFrame({"at": moments, "id": range(1000)})}
    subject = Subject("mine", tables)
    ends = with_ends_and_order(subject, tables, "at", moments)
    assert ends.types == {"at": ZONED_TIMES}
    assert ends.compares_zoned_times
    # A library that is not told of the zones of the file.
    pair = query_engines.get("Parquet[pandas]")
    pair.save(tables, tmp_path / "file.tables")
    handle = pair.engine.open("Parquet", pair.paths(tmp_path / "file.tables"))
    ten = datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.UTC)
    elsewhere = ten.astimezone(datetime.timezone(datetime.timedelta(hours=9)))
    for where, rows in (
        ({"share": 0.1}, 100),
        ({"operator": ">=", "at": 0.25}, 750),
        ({"operator": "<", "value": ten}, 600),
        ({"operator": "<", "value": elsewhere}, 600),
        ({"operator": "<", "value": datetime.datetime.max.replace(tzinfo=datetime.UTC)}, 1000),
        ({"between": [ten, ten + datetime.timedelta(minutes=9)]}, 10),
        ({"one_of": [ten, ten]}, 1),
        ({"keys": 7}, 7),
    ):
        assert counted(subject, tables, column="at", **where) == rows, where
        selected = query_of(question(columns=["id"], where=[{"column": "at", **where}]), subject)
        assert pair.engine.answer(handle, selected).num_rows == rows
    for value, advice in (
        (ten.replace(tzinfo=None), "write its time zone, as in 2026-01-31T12:00:00Z"),
        (ten.date(), "write a time with its time zone, as in 2026-01-31T00:00:00Z"),
    ):
        where = [{"column": "at", "operator": "<", "value": value}]
        with pytest.raises(InvalidQuestionsError, match=f"contains times with a time zone.*{advice}"):
            query_of(question(aggregates=["count"], where=where), subject)


def test_times_without_a_zone_do_not_compare_with_times_that_have_one():
    subject = Subject("mine", {"data": pd.DataFrame({"at": pd.date_range("2024-01-01", periods=3)})})
    value = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    where = [{"column": "at", "operator": "<", "value": value}]
    with pytest.raises(InvalidQuestionsError, match=r"contains times, .*; write it without a time zone"):
        query_of(question(aggregates=["count"], where=where), subject)


def test_the_end_of_the_calendar_has_a_moment_in_each_zone():
    ends = pd.Series(pd.DatetimeIndex(["0001-01-01", "9999-12-31 23:59:59"]).as_unit("us"))
    for zone in ("Asia/Tokyo", "America/New_York"):
        tables = {"data": pd.DataFrame({"at": ends.dt.tz_localize("UTC").dt.tz_convert(zone)})}
        subject = Subject("mine", tables)
        for text, rows in (("0001-01-01T00:00:00Z", 1), ("9999-12-31T23:59:59.999999Z", 2)):
            where = {"operator": "<=", "value": datetime.datetime.fromisoformat(text)}
            assert counted(subject, tables, column="at", **where) == rows


def test_decimals_compare_with_numbers_and_are_added_up_exactly():
    amounts = [Decimal(each).scaleb(-2) for each in range(-50, 50)]
    tables = {"data": pd.DataFrame({"amount": amounts, "id": range(100)})}
    subject = Subject("mine", tables)
    ends = with_ends_and_order(subject, tables, "amount", amounts)
    assert ends.types == {"amount": DECIMALS}
    assert ends.compares_decimals
    for where, rows in (
        ({"operator": "<", "value": 0}, 50),
        ({"operator": "<=", "value": 0.1}, 61),
        ({"operator": ">", "value": 0.105}, 39),
        ({"operator": "!=", "value": 0.105}, 100),
        ({"operator": "<", "value": 1e300}, 100),
        ({"between": [-0.1, 0.1]}, 21),
        ({"one_of": [0.1, 0.2, 7]}, 2),
        ({"share": 0.1}, 10),
        ({"operator": ">=", "at": 0.25}, 75),
        ({"keys": 5}, 5),
    ):
        assert counted(subject, tables, column="amount", **where) == rows, where
    added = query_of(question(aggregates=["sum(amount)", "avg(amount)"]), subject)
    assert added.types == {"amount": DECIMALS}
    found = reference.answer(added, tables).table
    assert found["sum_amount"].to_pylist() == [Decimal("-0.50")]
    assert found["avg_amount"].to_pylist() == [-0.005]


@pytest.mark.parametrize(
    ("values", "wanted", "rows"),
    [
        (np.array([0, 0, 0, 1, 2], "uint8"), [1, 256], 1),
        (np.array([0, 0, 0, 1, 2], "uint8"), [1, 2.5], 1),
        (np.array([0, 0, 0, 1, 2], "uint8"), [256, -1], 0),
        (np.array([-128, 5, 5], "int8"), [5, -200], 2),
    ],
)
def test_a_value_that_a_column_cannot_hold_is_none_of_its_values(values, wanted, rows):
    tables = {"data": pd.DataFrame({"x": values, "id": range(len(values))})}
    assert query_and_count(Subject("mine", tables), tables, column="x", one_of=wanted)[1] == rows


def test_large_unsigned_integers_are_found_by_all_their_digits():
    values = np.uint64(1_500_000_000_000_000_000) + np.arange(2_000, dtype="uint64") * np.uint64(97)
    tables = {"data": pd.DataFrame({"x": values, "id": range(2_000)})}
    assert query_and_count(Subject("mine", tables), tables, column="x", keys=100)[1] == 100


@pytest.mark.parametrize("dtype", ["uint64", "UInt64"])
def test_conditions_have_no_integers_beyond_63_bits(dtype):
    values = pd.Series([0, 2**64 - 1, 2**63, 5, 2**63 - 1], dtype=dtype)
    tables = {"data": pd.DataFrame({"x": values, "id": range(5)})}
    subject = Subject("mine", tables)
    for where in ({"operator": ">=", "at": 0.2}, {"keys": 5}, {"share": 0.9}):
        with pytest.raises(UnsupportedError, match="in column x is beyond 63 bits"):
            query_of(question(columns=["id"], where=[{"column": "x", **where}]), subject)
    with pytest.raises(InvalidQuestionsError, match="18446744073709551615 does not fit in 64 bits"):
        query_of(question(columns=["id"], where=[{"column": "x", "one_of": [2**64 - 1]}]), subject)
    for value, rows in ((2**63 - 1, 3), (5, 4), (-1, 5), (1e30, 0)):
        where = [{"column": "x", "operator": ">=", "value": value}]
        query = query_of(question(columns=["id"], where=where), subject)
        assert reference.answer(query, tables).num_rows == rows


@pytest.mark.parametrize("dtype", ["float32", "Float32", "category"])
def test_conditions_on_32_bit_floats_are_not_asked_of_text_that_has_other_floats(dtype, tmp_path):
    values = pd.Series(np.array([0.1, 0.5, 7.3], np.float32))
    tables = {"data": pd.DataFrame({"x": values.astype(dtype), "id": range(3)})}
    subject = Subject("mine", tables)
    text, binary = query_engines.get("CSV[pandas]"), query_engines.get("Parquet[pandas]")
    for where in (
        {"operator": ">=", "at": 0.9},
        {"operator": "<", "value": 0.1},
        {"keys": 3},
        {"share": 0.9},
    ):
        query = query_of(question(columns=["id"], where=[{"column": "x", **where}]), subject)
        binary.check_query(query)
        with pytest.raises(UnsupportedError, match="its text has few digits of 32-bit floats"):
            text.check_query(query)
    # Numbers that are the same with both lengths.
    for where in ({"operator": ">=", "value": 0.5}, {"one_of": [0.5, 2]}):
        query = query_of(question(columns=["id"], where=[{"column": "x", **where}]), subject)
        text.check_query(query)
        if dtype == "float32":
            text.save(tables, tmp_path / "t")
            handle = text.engine.open("CSV", text.paths(tmp_path / "t"))
            assert difference(text.engine.answer(handle, query), reference.answer(query, tables)) == ""


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_texts_have_ends_an_order_and_ranges(dtype):
    names = ["", "A", "Z", "a", "a\0", "a\0b", "z", "\u00e9", "\uffee", "\U0001f600"]
    tables = {"data": pd.DataFrame({"name": pd.Series(names, dtype=dtype), "id": range(10)})}
    subject = Subject("mine", tables)
    ends = with_ends_and_order(subject, tables, "name", names)
    assert ends.types == {"name": TEXT}
    for where, rows in (
        ({"share": 0.4}, 4),
        ({"operator": "<", "value": "a"}, 3),
        ({"operator": ">=", "at": 0.5}, 5),
        ({"between": ["A", "a"]}, 3),
    ):
        query = query_of(question(columns=["id"], where=[{"column": "name", **where}]), subject)
        assert reference.answer(query, tables).num_rows == rows, where
    with pytest.raises(InvalidQuestionsError, match=r"sum of 'name', which contains text"):
        query_of(question(aggregates=["sum(name)"]), subject)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}])
def test_lists_and_records_make_no_groups(value):
    subject = Subject("mine", {"data": pd.DataFrame({"many": [value, None], "id": [1, 2]})})
    with pytest.raises(InvalidQuestionsError, match="group 'many' contains lists or records"):
        query_of(question(group="many", aggregates=["count"]), subject)


@pytest.mark.parametrize(
    ("amount", "value", "problem"),
    [
        (Decimal("1.5"), float("inf"), "contains decimals, which are never infinite"),
        (Decimal(10**40), 1, "contains decimals of more than 38 digits"),
        (Decimal("1.5"), "a", "contains decimals, which do not compare with 'a'"),
        (1.5, Decimal("1.5"), "contains numbers, which do not compare with Decimal"),
    ],
)
def test_constants_that_are_no_decimals_are_refused(amount, value, problem):
    subject = Subject("mine", {"data": pd.DataFrame({"amount": [amount]})})
    where = [{"column": "amount", "operator": "<", "value": value}]
    with pytest.raises(InvalidQuestionsError, match=re.escape(f"column 'amount' {problem}")):
        query_of(question(columns=["amount"], where=where), subject)


def test_sums_of_more_digits_than_decimals_have_are_not_asked():
    tables = {"data": pd.DataFrame({"amount": [Decimal(10**38 - 1)] * 2})}
    query = query_of(question(aggregates=["sum(amount)"]), Subject("mine", tables))
    with pytest.raises(UnsupportedError, match="the sum of amount does not fit in 38 digits"):
        reference.answer(query, tables)


def test_dates_compare_with_dates_and_times():
    days = pd.date_range("2024-01-01", periods=100).date
    tables = {"data": pd.DataFrame({"day": days, "id": range(100)})}
    subject = Subject("mine", tables)
    ends = with_ends_and_order(subject, tables, "day", days)
    assert ends.types == {"day": DATES}
    assert ends.compares_dates
    noon = datetime.datetime.combine(days[10], datetime.time(12))
    for where, rows in (
        ({"operator": "<", "value": days[10]}, 10),
        ({"operator": "<", "value": noon}, 11),
        ({"operator": "==", "value": noon}, 0),
        ({"between": [days[10], days[19]]}, 10),
        ({"between": [noon, noon + datetime.timedelta(days=2)]}, 2),
        ({"one_of": [days[0], days[5]]}, 2),
        ({"share": 0.1}, 10),
        ({"operator": ">=", "at": 0.25}, 75),
    ):
        assert counted(subject, tables, column="day", **where) == rows, where
    with pytest.raises(InvalidQuestionsError, match=r"avg of 'day', which contains dates"):
        query_of(question(aggregates=["avg(day)"]), subject)
    where = [{"column": "id", "operator": "<", "value": days[0]}]
    with pytest.raises(InvalidQuestionsError, match=r"'id' contains numbers, which do not compare"):
        query_of(question(aggregates=["count"], where=where), subject)
