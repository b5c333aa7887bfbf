"""Query sets: equal answers of all engines, and the page of the results."""

from __future__ import annotations

import pytest

import data_formats
from adapter_core import UnknownNameError
from adapter_core.errors import InvalidResultsError
from adapter_core.query import Query
from data_generator.synthetic.visits import rows_of_visits
from format_bench.families.tables import reference
from format_bench.results import flat_csv
from format_bench.studies.query_sets import ENGINES
from format_bench.studies.sql_sets import sets, trials
from format_bench.studies.sql_sets.page import page
from format_bench.studies.sql_sets.trials import QuerySetResult
from format_bench.verification.answers import difference
from tests.helpers import run

SCALES = {"tpch": 0.002, "visits": 0.004}


@pytest.mark.parametrize("name", sets.NAMES)
def test_engines_of_sql_answer_all_queries_as_the_reference_does(name, tmp_path):
    data = sets.tables(name, SCALES[name], tmp_path)
    queries = sets.query_set(name)
    assert tuple(data) == queries.tables
    assert len(queries.by_name) == {"tpch": 22, "visits": 43}[name]
    asked = sets.statements(queries, sets.constants(name, SCALES[name], data))
    paths = {table: tmp_path / f"{table}.parquet" for table in data}
    parquet = data_formats.get("Parquet")
    for table, df in data.items():
        parquet.save_tuned(df, paths[table], **queries.tuned.get(table, {"sort_by": []}))
    engines = [trials.engine_of_sql(each) for each in ENGINES.split(",")]
    handles = {engine.label: engine.open("Parquet", paths) for engine in engines}
    with_rows = 0
    for query, statement in asked.items():
        assert "{" not in statement.replace("{1,", "")
        wanted = reference.answer(Query(statement=statement), data)
        with_rows += wanted.num_rows > 0
        for engine in engines:
            answer = engine.answer(handles[engine.label], Query(statement=statement))
            assert difference(answer, wanted, ordered=False) == "", (query, engine.label)
    assert with_rows > 0.7 * len(asked)


def test_visits_do_not_depend_on_the_blocks_that_they_are_made_in():
    whole = rows_of_visits(0, 500, 1_000, 1)
    part = rows_of_visits(200, 300, 1_000, 1)
    assert part.equals(whole.iloc[200:300].reset_index(drop=True))
    assert whole["time"].is_monotonic_increasing
    assert not part.equals(rows_of_visits(200, 300, 1_000, 2))


def _result(engine: str, query: str, seconds: float, **other: object) -> QuerySetResult:
    fields = {"format": "Parquet", "track": "defaults", "file_bytes": 1_000, "write_seconds": 1.0}
    return QuerySetResult(
        query_set="visits",
        scale=0.1,
        engine=engine,
        query=query,
        **{"cpu_seconds": seconds, "wall_seconds": seconds, **fields, **other},
    )


def test_the_page_has_ranks_tuning_published_sums_and_reasons():
    results = [
        _result("duckdb", "V1", 0.001),
        _result("duckdb", "V2", 0.009),
        _result("datafusion", "V1", 0.002),
        _result("datafusion", "V2", 0.0, reason="it refuses"),
        _result("duckdb", "V1", 0.001, track="tuned", write_seconds=3.0),
        _result("duckdb", "V2", 0.004, track="tuned", write_seconds=3.0),
    ]
    copy = flat_csv.from_csv(QuerySetResult, flat_csv.to_csv(QuerySetResult, results))
    assert copy == results
    text = page(copy)
    assert "## Web visits, after ClickBench, 100,000 rows" in text
    assert "| Parquet[duckdb] | 0.71 | 0.50 (V2) | 1.00 (V1) | 3.00 | 1.00 |" in text
    assert "| Parquet[datafusion] | 1.55 | 1.39 | 2.00 | +43% |" in text
    assert "| V2, rows of a rare kind | 9.0 | failed [1] | **4.0** |" in text
    assert "\n1. it refuses\n" in text


def test_a_page_needs_results():
    with pytest.raises(InvalidResultsError, match="no results of query sets"):
        page([])


def test_unknown_sets_engines_and_tracks_are_refused_in_one_line():
    with pytest.raises(UnknownNameError, match="there is no query set 'tpcds'"):
        sets.query_set("tpcds")
    done = run("study", "query-sets", "--engines", "sqlite")
    assert done.returncode == 2
    assert "there is no engine of SQL 'sqlite'" in done.stderr
    assert done.stderr.count("\n") == 1
