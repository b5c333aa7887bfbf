"""The study of tuning: runs of the suite `query`, by other writers too, and its page of then and now."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from adapter_core import UnknownNameError
from format_bench.cli.main import format_bench
from format_bench.conditions import axes
from format_bench.families.cases import Case
from format_bench.results import flat_csv
from format_bench.results.load import RESULTS, load
from format_bench.results.study_rows import StudyFile, read
from format_bench.studies.tables import tuning
from format_bench.studies.tables.tuning import TuningResult
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "study_results"


def _printed(*arguments):
    command = ["study", "tuning", *map(str, arguments)]
    done = CliRunner().invoke(format_bench, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.costly("data_formats", "query_engines")
def test_a_pair_answers_the_same_questions_from_both_files_of_any_writer(tmp_path):
    written = "Parquet[pyarrow] by Parquet[polars]"
    page = _printed("--pairs", f"DuckDB[duckdb],{written}", "--rows", 300, "--out", tmp_path)
    assert "| DuckDB | rows sorted; an ART index of each lookup column" in page
    assert "| Parquet[polars] | rows sorted; page index" in page
    assert _printed("--page", tmp_path) == page
    records = [each for each in load(tmp_path).records if each.value is not None]
    asked = {
        track: {
            (each.format, each.conditions.get("writer"), each.query)
            for each in records
            if each.query and each.track == track
        }
        for track in ("defaults", "tuned")
    }
    assert asked["defaults"] == asked["tuned"]
    for pair in (("DuckDB[duckdb]", None), ("Parquet[pyarrow]", "Parquet[polars]")):
        assert {(*pair, "count"), (*pair, "point"), (*pair, "join")} <= asked["tuned"]
    sizes = {
        each.track: each.value
        for each in records
        if (each.format, each.metric) == ("DuckDB[duckdb]", "size")
    }
    assert sizes["tuned"] > sizes["defaults"]  # its indexes
    # A folder with more shows what was asked for, and measures nothing again.
    before = (tmp_path / RESULTS).read_bytes()
    one = _printed("--pairs", "DuckDB[duckdb]", "--rows", 300, "--out", tmp_path)
    assert "Parquet" not in one.partition("## Method")[0]
    assert (tmp_path / RESULTS).read_bytes() == before


def test_the_page_has_ratios_and_reasons(tmp_path):
    def result(track: str, query: str, seconds: float, reason: str = "") -> TuningResult:
        return TuningResult("SQLite[sqlite3]", 1_000, track, query, 2_000_000, 1.0, seconds, reason)

    results = [
        *(result("defaults", "count", 0.003), result("defaults", "point", 0.009)),
        *(result("tuned", "count", 0.003), result("tuned", "point", 0.001)),
        result("tuned", "take-1", 0.0, "it refuses"),
    ]
    file = tmp_path / "tuning.csv"
    file.write_text(flat_csv.to_csv(TuningResult, results), encoding="utf-8")
    text = _printed("--page", file)
    assert "| SQLite[sqlite3] | 1.00 | 1.00 | 2.0 | 2.0 | 0.45 | 0.20 (point) | 1.00 (count) |" in text
    assert "| point | **0.20** (9.0) |" in text
    assert "it refuses" in text.partition("## Not answered")[2]


def test_records_of_earlier_versions_are_of_the_suite_and_make_the_tables_of_then(tmp_path):
    def rows_of(page: str) -> list[str]:
        return [line for line in page.splitlines() if line.startswith("|")]

    kept = StudyFile(tuning.FORM, tmp_path)
    for each in read(tuning.FORM, KEPT / "tuning.csv"):
        kept.append(each)
    expected = rows_of((KEPT / "tuning.md").read_text(encoding="utf-8"))
    assert rows_of(_printed("--page", tmp_path)) == expected
    found = {(each.suite, each.format, each.conditions.get("writer")) for each in load(tmp_path).records}
    assert ("query", "Parquet[duckdb]", "Parquet[polars]") in found
    assert {suite for suite, *_ in found} == {"query"}


def test_writers_and_pairs_are_known_and_fit():
    why_not = axes()["writer"].why_not
    asked = Case("Parquet[pyarrow]", "query", 10, suite="query")
    assert why_not("Feather", asked) == "Feather writes .feather, which is no Parquet"
    assert why_not("Parquet[polars]", asked) == ""
    assert why_not("Parquet", Case("Parquet", "core", 10)).startswith("the suite tabular reads files")
    with pytest.raises(UnknownNameError, match="there is no data format 'Parket'"):
        axes()["writer"].parse("Parket")
    with pytest.raises(UnknownNameError, match=r"there is no format 'Parquet\[duck\]'"):
        _printed("--pairs", "Parquet[duckdb],Parquet[duck]", "--rows", 10)
