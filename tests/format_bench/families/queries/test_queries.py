"""Questions: their constants, their references, their SQL, and their measurement."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
import query_engines
from adapter_core import CannotHoldError, Comparison, UnknownNameError, UnsupportedError
from adapter_core.errors import ColdProcessError
from adapter_core.query import (
    COUNT,
    GREATEST,
    LEAST,
    MEAN,
    SUM,
    Aggregate,
    Contains,
    Field,
    Join,
    OneOf,
    Order,
    Query,
)
from adapter_core.query_sql import order_of, sql
from data_generator.datasets.query import rows_of_nested, rows_of_query
from format_bench.families.measuring import measure_steps
from format_bench.families.queries.operations import (
    DEFAULTS,
    TUNED,
    EngineQuery,
    QueryOperations,
)
from format_bench.families.queries.operations import (
    FAMILY as QUERIES,
)
from format_bench.families.questions import Questions, declared
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import asked
from format_bench.families.tables.subject import Subject, layouts
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort, Stopwatch
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import RunRequest, plan
from format_bench.verification.answers import Answer, difference

FAMILY = FAMILIES[QUERIES]
QUESTIONS = declared(QUERIES).to()
PRICES = pd.DataFrame(
    {
        "item": ["tea", "rye", "tea", None],
        "price": [2.5, 1.0, 3.5, 4.0],
        "shop": [1, 2, 1, 9],
    }
)
SHOPS = pd.DataFrame({"number": [2, 1], "town": ["Brno", "Znojmo"]})
TABLES = {"data": PRICES, "shops": SHOPS}


def answer(**parts):
    return reference.answer(Query(**parts), TABLES).table.to_pydict()


def test_the_reference_selects_groups_joins_and_orders():
    assert answer(columns=["price"], where=[Comparison("item", "==", "tea")]) == {"price": [2.5, 3.5]}
    assert answer(columns=["shop"], where=[OneOf("shop", [9, 2])]) == {"shop": [2, 9]}
    assert answer(columns=["item"], positions=[1, 3]) == {"item": ["rye", None]}
    counted = answer(aggregates=[Aggregate(COUNT)], where=[Contains("item", "e")])
    assert counted == {"count_rows": [2 + 1]}
    sums = [Aggregate(SUM, "price"), Aggregate(LEAST, "price"), Aggregate(GREATEST, "price")]
    assert answer(groups=["shop"], aggregates=[*sums, Aggregate(MEAN, "price")]) == {
        "shop": [1, 2, 9],
        "sum_price": [6.0, 1.0, 4.0],
        "min_price": [2.5, 1.0, 4.0],
        "max_price": [3.5, 1.0, 4.0],
        "avg_price": [3.0, 1.0, 4.0],
    }
    # Of nobody's shop there is no price.
    nobody = answer(aggregates=[*sums, Aggregate(COUNT, "price")], where=[Comparison("shop", "==", 0)])
    assert nobody == {"sum_price": [None], "min_price": [None], "max_price": [None], "count_price": [0]}
    kinds = answer(groups=["item"], aggregates=[Aggregate(COUNT), Aggregate(COUNT, "item")])
    assert kinds == {"item": ["tea", "rye", None], "count_rows": [2, 1, 1], "count_item": [2, 1, 0]}
    last = answer(columns=["item"], order=Order("item", descending=True), limit=4)
    assert last == {"item": ["tea", "tea", "rye", None]}
    joined = answer(
        groups=["town"],
        aggregates=[Aggregate(SUM, "price")],
        join=Join("shops", "shop", "number", ["town"]),
    )
    assert joined == {"town": ["Znojmo", "Brno"], "sum_price": [6.0, 1.0]}
    top = answer(columns=["shop"], order=Order("price", descending=True), limit=2)
    assert top == {"shop": [9, 1]}
    assert answer(shape=True) == {"rows": [4], "columns": [3]}


def test_a_query_is_one_statement():
    where = [Comparison("price", ">=", 1.5), Contains("item", "te")]
    found = sql(Query(columns=["item", Field("s.a")], where=where, order=Order("item"), limit=3))
    assert found == (
        'SELECT "item", "s"."a" FROM data WHERE "price" >= 1.5 AND "item" LIKE \'%te%\' '
        'ORDER BY "item" NULLS LAST LIMIT 3'
    )
    with pytest.raises(ValueError, match="number of a row"):
        sql(Query(columns=["item"], positions=[1]))


@pytest.mark.parametrize(
    ("statement", "keys"),
    [
        ("SELECT a FROM data ORDER BY a", ["a"]),
        (
            "SELECT a FROM data\norder  by One.A DESC NULLS LAST, 2, f(b) LIMIT 3 OFFSET 1;",
            ["one.a", "2", "f?"],
        ),
        ("SELECT a FROM (SELECT a, b FROM data ORDER BY b LIMIT 3) AS x", []),
        ("SELECT sum(a) OVER (ORDER BY (b)) FROM data -- ORDER BY a", []),
        ("SELECT 'ORDER BY a' AS t FROM data", []),
        ("WITH x AS (SELECT a FROM data ORDER BY b) SELECT a FROM x ORDER BY a", ["a"]),
    ],
)
def test_the_keys_of_a_statements_order_are_found(statement, keys):
    assert list(order_of(statement)) == keys


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"columns": ["a"], "aggregates": [Aggregate(COUNT)]},
        {"columns": ["a"], "shape": True},
        {"columns": ["a"], "limit": 3},
        {"columns": ["a"], "statement": "SELECT a FROM data"},
        {"aggregates": [Aggregate(COUNT)], "groups": ["a"], "order": Order("a"), "limit": 1},
        {"columns": ["a"], "positions": [1], "where": [OneOf("a", [1])]},
    ],
)
def test_contradictory_queries_are_refused(parts):
    with pytest.raises(ValueError, match=r"quer|limit|rows|groups"):
        Query(**parts)


def test_answers_compare_by_position_values_and_order():
    wanted = Answer(pa.table({"k": ["a", "b"], "x": [1.0, None], "n": [1, 0]}))
    other = pa.table(
        {
            "K": pa.array(["b", "a"]).dictionary_encode(),
            "X": pa.array([None, 1.0 + 1e-13]),
            "N": pa.array([False, True]),
        }
    )
    assert difference(other, wanted) == ""
    assert difference(other, replace(wanted, order=["k"])) == "values of column 1, k, differ"
    off = other.set_column(1, "X", pa.array([None, 1.0 + 1e-9]))
    assert difference(off, wanted) == "values of column 2, x, differ"
    nan = other.set_column(1, "X", pa.array([float("nan"), 1.0 + 1e-13]))
    assert difference(nan, wanted) == "values of column 2, x, differ"
    tiny = pa.table({"k": ["a", "b"], "x": [1.0 + 1e-9, None], "n": [1, 0]})
    assert difference(tiny, wanted) == "values of column 2, x, differ"
    assert difference(tiny, wanted, absolute=1e-8) == ""
    assert "1 rows of 3 columns" in difference(other.slice(1), wanted)


def test_rows_of_large_floats_are_found_in_any_order():
    floats = [5e16, -7e250, -0.0, np.inf, 5e125, -np.inf, 3.5e38]
    wanted = Answer(pa.table({"x": floats, "n": range(7)}))
    assert difference(wanted.table.take([4, 2, 5, 0, 3, 6, 1]), wanted) == ""
    other = pa.table({"x": [5e16, -7e250, -0.0, np.inf, 6e125, -np.inf, 3.5e38], "n": range(7)})
    assert difference(other.take([4, 2, 5, 0, 3, 6, 1]), wanted) == "values of column 1, x, differ"


def test_selections_have_their_share_of_rows_and_lookups_one():
    df = data_generator.table("query", rows=2000).df
    keys = pd.DataFrame({"k": [0], "region": ["a"]})
    found = asked(Subject("query", {"data": df, "keys": keys}, layouts()["query"]), QUESTIONS)
    for order in ("sorted", "clustered", "random"):
        counts = [
            reference.answer(found[f"select-{order}-{share}"], {"data": df}).num_rows
            for share in ("1e-5", "1e-3", "1e-1", "1")
        ]
        assert counts[0] == 1
        assert counts[1] >= 2
        assert 200 <= counts[2] <= 201
        assert counts[3] == 2000
    assert reference.answer(found["point"], {"data": df}).num_rows == 1
    assert found["take-10000"] == "query has 2,000 rows, fewer than 10,000"
    assert len(QUESTIONS.by_name) >= 29


def test_a_tuned_file_is_sorted_and_answers_as_the_default_one(tmp_path):
    pair = query_engines.get("Parquet[pyarrow]")
    data = QueryOperations.generate("flights", 2_000)
    stored = tmp_path / "data"
    QueryOperations.store(data, stored)
    operations = QueryOperations(pair, track=TUNED)
    operations.expect(stored)
    folder = tmp_path / "file.tables"
    operations.check(data)
    operations.save(data, folder)
    times = pair.format.read(folder / "data.parquet").sched_dep_time
    assert times.is_monotonic_increasing
    assert not data.tables["data"].sched_dep_time.is_monotonic_increasing
    assert operations.verify(data, operations.read(folder)).repeats == [0]
    opened = operations.open_query("select-clustered-1e-1", folder)
    assert "equal to NumPy's" in opened.verify(opened.read(), data)
    opened.close()
    with pytest.raises(UnsupportedError, match="other numbers"):
        operations.check_query("take-100")


def test_a_file_that_tuning_would_not_change_is_refused():
    data = QueryOperations.generate("query", 100)
    for label, is_tuned in (("CSV[pyarrow]", False), ("ORC[pyarrow]", True)):
        operations = QueryOperations(query_engines.find(label), track=TUNED)
        with (
            contextlib.nullcontext()
            if is_tuned
            else pytest.raises(
                CannotHoldError,
                match="CSV has nothing to tune but the order of rows, and query is in order",
            )
        ):
            operations.check(data)
        QueryOperations(query_engines.find(label), track=DEFAULTS).check(data)
    wide = QueryOperations(query_engines.find("ORC[pyarrow]"), track=TUNED)
    with pytest.raises(CannotHoldError, match="query-wide has no column that tuned files are sorted by"):
        wide.check(QueryOperations.generate("query-wide", 10))


def test_a_cold_answer_is_that_of_a_fresh_process(tmp_path, monkeypatch):
    pair = query_engines.get("ORC[pyarrow]")
    data = QueryOperations.generate("query", 500)
    stored, folder = tmp_path / "data", tmp_path / "file.tables"
    QueryOperations.store(data, stored)
    operations = QueryOperations(pair)
    operations.expect(stored)
    operations.save(data, folder)

    def refuse(*_):
        raise AssertionError("asked in the process that has answered before")

    monkeypatch.setattr(type(pair.engine), "open", refuse)
    page_cache.fill(folder)
    found = operations.answer_cold("point", folder, 60.0)
    assert found.sample.wall_seconds > 0
    assert found.requests > 0
    if not page_cache.resident_bytes(folder):
        pytest.skip("nothing stays in the page cache here")
    assert found.fetched_bytes > 0
    with pytest.raises(ColdProcessError, match="No such file"):
        operations.answer_cold("point", tmp_path / "none.tables", 60.0)


def test_a_run_measures_both_tracks_or_those_that_are_named():
    request = RunRequest(suite="query", formats=("Lance[lance]",))
    assert [each.track for each in plan(request).cases] == ["defaults", "tuned"]
    assert [each.track for each in plan(replace(request, tracks=("tuned",))).cases] == ["tuned"]
    with pytest.raises(UnknownNameError, match=r"'tunde'.*tuned"):
        plan(replace(request, tracks=("tunde",)))


@pytest.mark.parametrize("make", [rows_of_query, rows_of_nested])
def test_rows_do_not_depend_on_those_before_them(make):
    whole = make(0, 300, 7)
    assert make(100, 300, 7).equals(whole.iloc[100:].reset_index(drop=True))


def test_ids_ascend_and_random_numbers_are_all_different():
    df = data_generator.table("query", rows=50_000).df
    assert (np.diff(df.id) > 0).all()
    assert df.rnd.is_unique
    assert df.rnd.is_monotonic_increasing is False
    assert df.url.str.len().eq(50).all()
    assert 0.001 < df.url.str.contains("needle").mean() < 0.003


@pytest.fixture
def measured(tmp_path):
    data = QueryOperations.generate("query", 500)
    QueryOperations.store(data, tmp_path / "data")
    operations = QueryOperations(query_engines.get("Parquet[pyarrow]"))
    operations.expect(tmp_path / "data")
    operations.save(data, file := tmp_path / "file.tables")
    return operations, QueryOperations.load(tmp_path / "data"), file


def test_all_questions_are_measured_warm(measured):
    operations, data, file = measured
    step = FAMILY.step_of("query time", "warm")
    found = measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))["query"]
    warm = {(each.metric, each.query): each for each in found}
    assert set(QUESTIONS.by_name) == {query for _, query in warm}
    assert warm["query time", "point"].sentence == "1 rows, equal to NumPy's"
    assert warm["query memory", "point"].repeats[0] >= 0
    assert warm["query time", "field"].status == "unsupported"
    assert warm["missed rows", "point"].repeats == [0]


@pytest.mark.parametrize(
    "names",
    [
        ("columns-2", "point", "field"),
        # A new process for each question.
        pytest.param(tuple(QUESTIONS.by_name), marks=pytest.mark.nightly, id="all"),
    ],
)
def test_questions_are_measured_cold(measured, names):
    operations, data, file = measured
    operations.questions = QUESTIONS.only(*names)
    try:
        page_cache.make_cold(file)
    except page_cache.NotColdError as error:
        pytest.skip(str(error))
    step = FAMILY.step_of("query time", "cold")
    found = measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))
    cold = {(each.metric, each.query): each for each in found["cold query"]}
    assert set(names) == {query for _, query in cold}
    assert cold["query time", "point"].sentence == "1 rows, equal to NumPy's"
    assert cold["query time", "field"].status == "unsupported"
    assert 0 < cold["query bytes", "columns-2"].repeats[0] <= 2 * operations.adapter.size_bytes(file)


def test_opening_is_within_the_clock_where_the_questions_say_so(measured, monkeypatch):
    operations, data, file = measured
    times, started = [], Stopwatch.__enter__
    opened = operations.open_query
    monkeypatch.setattr(operations, "open_query", lambda *of: times.append("open") or opened(*of))
    monkeypatch.setattr(Stopwatch, "__enter__", lambda own: times.append("start") or started(own))
    step = FAMILY.step_of("query time", "warm")
    for text, expected in (("", ["open", "start"]), ("times_opening = true\n", ["start", "open"])):
        question = f'{text}[[question]]\nname = "point"\ncolumns = ["id"]\n'
        operations.questions = Questions((("mine.toml", question),))
        times.clear()
        measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))
        assert times[1:3] == expected


def test_only_the_wanted_questions_are_measured(measured):
    operations, data, file = measured
    operations.questions = QUESTIONS.only("count", "point")
    step = FAMILY.step_of("query time", "warm")
    found = measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))["query"]
    assert {each.query for each in found} == {"count", "point"}


def test_a_wrong_answer_fails_alone(measured, monkeypatch):
    operations, data, file = measured
    operations.questions = QUESTIONS.only("count", "group-few", "point")
    read = EngineQuery.read
    monkeypatch.setattr(EngineQuery, "read", lambda self: read(self).slice(self._name == "group-few", 5))
    step = FAMILY.step_of("query time", "warm")
    found = measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))["query"]
    failed = {each.query: each.sentence for each in found if each.status == "failed"}
    assert "rows of 3 columns" in failed["group-few"]
    assert "group-few" not in {each.query for each in found if each.status == "value"}


def test_an_answer_that_a_library_refuses_is_unsupported(measured, monkeypatch):
    operations, data, file = measured
    operations.questions = QUESTIONS.only("count", "point")
    read = EngineQuery.read

    def refuse(self):
        if self._name == "point":
            raise operations.adapter.engine.refused("Parquet", "it has no such condition")
        return read(self)

    monkeypatch.setattr(EngineQuery, "read", refuse)
    step = FAMILY.step_of("query time", "warm")
    found = measure_steps([step], operations, lambda: data, file, Effort(0.0, min_repeats=1))["query"]
    sentence = "does not answer this from Parquet: it has no such condition"
    assert {each.status for each in found if each.query == "count"} == {"value"}
    assert {(each.status, sentence in each.sentence) for each in found if each.query == "point"} == {
        ("unsupported", True)
    }


def test_a_data_set_without_a_part_has_a_reason():
    found = QueryOperations.generate("flights", 300).facts.asked
    assert found["largest-10"].limit == 10
    assert found["top-10"] == "the data set flights has no column for the part 'top'"
    with pytest.raises(UnsupportedError):
        QueryOperations.generate("flights", 300).answer("top-10")
