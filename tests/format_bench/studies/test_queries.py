"""The page "which engine for which question"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results.status import CellStatus
from format_bench.studies.declared import study
from tests.factories.records import record, results

if TYPE_CHECKING:
    from format_bench.results.records import Record

WALL, CPU = "query time", "query CPU time"
FACTS = {"suite": "query", "dataset": "query", "rows": 1000, "columns": 20, "cache": "warm"}


def page(found, metric):
    return study.read("queries", cpu=metric == CPU).page(found).markdown()


def answer(label, query, milliseconds, metric=WALL, **facts) -> Record:
    value = milliseconds and milliseconds / 1000
    return record(label, metric, value, **{**FACTS, "query": query, **facts})


def line_with(text, start):
    return next(line for line in text.splitlines() if line.startswith(start))


MEASURED = [
    answer("Parquet[duckdb]", "point", 9),
    answer("Parquet[polars]", "point", 29),
    answer("Vortex[vortex]", "point", 1),
    answer("Parquet[duckdb]", "group-few", 1),
    answer("Parquet[polars]", "group-few", 3),
    answer("Vortex[vortex]", "group-few", 19),
]


def test_each_question_has_its_fastest_pairs_and_the_fastest_on_parquet():
    text = page(results(MEASURED), WALL)
    point = line_with(text, "| point: ")
    assert "| Vortex[vortex] 1 ms | Parquet[duckdb] 5.00, Parquet[polars] 15.0 |" in point
    assert "| Parquet[duckdb] 9 ms | 3 | Parquet[polars] 15.0 |" in point
    assert "| query, 1,000 rows, all threads | 3 | 2 | 3 | 2 | 6 |" in text


def test_formats_and_pairs_are_ranked_by_shifted_ratios():
    text = page(results(MEASURED), WALL)
    # (9 + 1) / (1 + 1) and (1 + 1) / (1 + 1): the geometric mean is the root of 5.
    assert "| 1 | Parquet[duckdb] | 2.24 | 2 of 2 | 1 |" in text
    assert line_with(text, "| Vortex | ") == "| Vortex | 1.00 vortex | 10.0 vortex |"


def test_an_incomplete_pair_comes_last_and_its_reason_is_named():
    gap = answer(
        "Feather[duckdb]", "group-few", None, status=CellStatus.UNSUPPORTED, sentence="it gives none"
    )
    found = [*MEASURED, answer("Feather[duckdb]", "point", 1), gap]
    text = page(results(found), WALL)
    assert "| 4 | Feather[duckdb] | 1.00 | 1 of 2 |" in text
    assert "it gives none" in text


def test_cpu_times_make_a_page_of_their_own():
    text = page(results([answer("Parquet[duckdb]", "point", 5, CPU)]), CPU)
    assert "CPU time of all threads of the process" in text
    with pytest.raises(InvalidResultsError, match="no warm answers of the suite query"):
        page(results([answer("Parquet[duckdb]", "point", 5, CPU)]), WALL)


def test_tracks_are_ranked_apart_and_compared():
    def on(track, label, milliseconds, query="point"):
        return answer(label, query, milliseconds, track=track)

    costs = {"cache": None}
    found = [
        *(on("defaults", "Lance[lance]", 9), on("defaults", "CSV[polars]", 4)),
        *(on("tuned", "Lance[lance]", 1), on("tuned", "Lance[lance]", 2, "join")),
        answer("Lance[lance]", "", 500, "save time", track="defaults", **costs),
        answer("Lance[lance]", "", 900, "save time", track="tuned", **costs),
        answer("CSV[polars]", "point", None, track="tuned", status=CellStatus.UNSUPPORTED),
    ]
    text = page(results(found), WALL)
    assert "| query, 1,000 rows, all threads, track defaults | 2 | 2 | 2 | 1 | 2 |" in text
    assert "| query, 1,000 rows, all threads, track tuned | 1 | 1 | 1 | 2 | 2 |" in text
    # (1 + 1) / (9 + 1); the join was asked on one track only.
    pair = "| Lance[lance] | 500 ms | 900 ms | - | - | 0.20 | 0.20 point | 0.20 point |"
    assert pair in text
    point = "| point | CSV[polars] 4 ms | Lance[lance] 1 ms | 0.20 | 0.20 Lance[lance] |"
    assert point in text
    assert "| CSV[polars] (tuned) | query |" in text


def test_cold_answers_are_shown_with_the_bytes_that_they_brought_in():
    cold = [
        answer("Parquet[duckdb]", "point", 70, cache="cold"),
        answer("Parquet[duckdb]", "point", 5e9, "query bytes", cache="cold"),
        answer("Vortex[vortex]", "point", 90, cache="cold"),
        answer("Vortex[vortex]", "point", 4e9, "query bytes", cache="cold"),
    ]
    text = page(results([*MEASURED, *cold]), WALL)
    assert "### Cold: query, 1,000 rows, all threads" in text
    assert "| point | Parquet[duckdb] 70 ms | 5 MB | Vortex[vortex] 4 MB | 2 |" in text
    assert "### Cold" not in page(results(MEASURED), WALL)


def test_questions_are_shown_as_sql_and_engines_with_their_formats():
    text = page(results(MEASURED), WALL)
    assert 'SELECT count(*) AS "count_rows" FROM data WHERE "url" LIKE \'%needle%\'' in text
    assert line_with(text, "| sqlite3 | ").startswith("| sqlite3 | SQLite |")
