"""The study of tuning: equal answers on both tracks, and its page."""

from __future__ import annotations

import pytest

from adapter_core import UnknownNameError
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from format_bench.results import flat_csv
from format_bench.studies import tuning
from format_bench.studies.tuning import TuningResult


def test_a_pair_answers_the_same_questions_from_both_files():
    results = list(tuning.measure(["DuckDB[duckdb]"], 2_000))
    answered = {
        track: {each.query for each in results if each.track == track and not each.reason}
        for track in ("defaults", "tuned")
    }
    assert answered["defaults"] == answered["tuned"]
    assert {"count", "point", "join"} <= answered["tuned"]
    assert all(each.cpu_seconds > 0 for each in results if not each.reason)
    sizes = {each.track: each.file_bytes for each in results}
    assert sizes["tuned"] > sizes["defaults"]  # its indexes
    text = tuning.page(results)
    assert "| DuckDB | rows sorted; an ART index of each lookup column" in text


def test_the_page_has_ratios_and_reasons():
    def result(track: str, query: str, seconds: float, reason: str = "") -> TuningResult:
        return TuningResult("SQLite[sqlite3]", 1_000, track, query, 2_000_000, 1.0, seconds, reason)

    results = [
        *(result("defaults", "count", 0.003), result("defaults", "point", 0.009)),
        *(result("tuned", "count", 0.003), result("tuned", "point", 0.001)),
        result("tuned", "take-1", 0.0, "it refuses"),
    ]
    assert flat_csv.from_csv(TuningResult, flat_csv.to_csv(TuningResult, results)) == results
    text = tuning.page(results)
    assert "| SQLite[sqlite3] | 1.00 | 1.00 | 2.0 | 2.0 | 0.45 | 0.20 (point) | 1.00 (count) |" in text
    assert "| point | **0.20** (9.0) |" in text
    assert "- SQLite[sqlite3], take-1 (tuned): it refuses" in text


def test_files_of_another_writer_are_asked():
    label = "Parquet[pyarrow] by Parquet[polars]"
    results = list(tuning.measure([label], 500))
    assert {each.pair for each in results} == {label}
    assert sum(not each.reason for each in results) >= 40
    assert "| Parquet[polars] | rows sorted; page index" in tuning.page(results)
    with pytest.raises(InvalidRequestError, match=r"^Feather writes \.feather, which is no Parquet$"):
        list(tuning.measure(["Parquet[pyarrow] by Feather"], 10))


def test_a_page_needs_results_and_pairs_are_known():
    with pytest.raises(InvalidResultsError, match="no results of tuning"):
        tuning.page([])
    with pytest.raises(
        UnknownNameError, match=r"there is no query engine on a format 'Parquet\[duck\]'"
    ):
        list(tuning.measure(["Parquet[duck]"], 10))
