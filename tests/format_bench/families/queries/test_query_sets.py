"""TPC-H and web visits: data, constants, and equal answers of all engines that take SQL."""

from __future__ import annotations

import pytest

import data_formats
import query_engines
from adapter_core.errors import InvalidQuestionsError, UnavailableError
from adapter_core.query_engine import Part
from data_generator.datasets.visits import rows_of_visits
from format_bench.families.queries.operations import QueryOperations
from format_bench.families.questions import Questions
from format_bench.results.suites import SUITES
from format_bench.verification.answers import difference

SUITE = SUITES["query_sets"]


def engines_of_sql():
    names = {label.partition("[")[2].rstrip("]") for label in SUITE.formats}
    return [each for each in query_engines.engines() if each.label in names]


@pytest.mark.parametrize(("dataset", "rows", "queries"), [("tpch", 12_000, 22), ("visits", 4_000, 43)])
def test_engines_of_sql_answer_all_queries_as_the_reference_does(dataset, rows, queries, tmp_path):
    data = QueryOperations.generate(dataset, rows)
    asked = data.facts.asked
    assert len(asked) == queries
    paths = {table: tmp_path / f"{table}.parquet" for table in data.tables}
    parquet = data_formats.get("Parquet")
    for table, df in data.tables.items():
        parquet.save_tuned(df, paths[table], *data.facts.tuned.get(table, ([], [])))
    engines = engines_of_sql()
    assert [each.label for each in engines] == ["datafusion", "duckdb", "polars"]
    assert all(Part.SQL in each.does for each in engines)
    handles = {engine.label: engine.open("Parquet", paths) for engine in engines}
    with_rows = 0
    for name, query in asked.items():
        # No placeholder is left; braces are a repetition in a pattern.
        assert "{" not in query.statement.replace("{1,", "")
        wanted = data.answer(name)
        with_rows += wanted.num_rows > 0
        for engine in engines:
            answer = engine.answer(handles[engine.label], query)
            assert difference(answer, wanted, ordered=False) == "", (name, engine.label)
    assert with_rows > 0.7 * len(asked)


def test_statements_have_the_constants_of_their_data():
    # 0.0001 by the scale factor, as the specification says.
    asked = QueryOperations.generate("tpch", 6_000).facts.asked
    assert "* 0.100000000000" in asked["Q11"].statement
    asked = QueryOperations.generate("visits", 2_000).facts.asked
    assert "> 2 " in asked["V28"].statement


def test_a_data_set_is_asked_the_files_that_name_it():
    general = QueryOperations.generate("query", 200).facts.asked
    assert "point" in general
    assert not {"Q1", "V1"} & general.keys()
    assert {"tpch", "visits"} <= {*QueryOperations.datasets()}


def test_visits_do_not_depend_on_the_blocks_that_they_are_made_in():
    whole = rows_of_visits(0, 500, 1_000, 1)
    part = rows_of_visits(200, 300, 1_000, 1)
    assert part.equals(whole.iloc[200:300].reset_index(drop=True))
    assert whole["time"].is_monotonic_increasing
    assert not part.equals(rows_of_visits(200, 300, 1_000, 2))


def test_several_tables_are_asked_by_statements_alone(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text('[[question]]\nname = "keys"\ncolumns = ["l_orderkey"]\n', encoding="utf-8")
    data = QueryOperations.asking(QueryOperations.generate("tpch", 1_200), Questions.of(mine))
    with pytest.raises(InvalidQuestionsError, match=r"tpch has the tables .* ask it by sql"):
        _ = data.facts
    with pytest.raises(UnavailableError, match="makes no 10 rows; try: take 1,000"):
        QueryOperations.generate("tpch", 10)
