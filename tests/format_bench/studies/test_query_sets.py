"""The page of query sets: ranks, tuning, published sums and reasons, of records and of earlier files."""

from __future__ import annotations

import re

from format_bench import report
from format_bench.results.load import load
from format_bench.results.study_rows import StudyFile, read
from format_bench.studies.declared import study
from format_bench.studies.tables import query_sets
from tests.commands import run
from tests.factories.records import record, results
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "study_results"
FACTS = {"suite": "query_sets", "dataset": "visits", "rows": 100_000, "columns": 21, "threads": "1"}


def rows_of(page):
    return [line for line in page.splitlines() if line.startswith("|")]


def answer(label, query, milliseconds, track="defaults", **facts):
    value = milliseconds and milliseconds / 1000
    facts = {**FACTS, "cache": "warm", "query": query, "track": track, **facts}
    return record(label, "query CPU time", value, **facts)


def saved(label, track, seconds):
    facts = {**FACTS, "track": track}
    return [
        record(label, "save CPU time", seconds, **facts),
        record(label, "size", 1_000, **facts),
    ]


def test_the_page_has_ranks_tuning_published_sums_and_reasons():
    found = [
        answer("Parquet[duckdb]", "V1", 1),
        answer("Parquet[duckdb]", "V2", 9),
        answer("Parquet[datafusion]", "V1", 2),
        answer("Parquet[datafusion]", "V2", None, sentence="it refuses"),
        answer("Parquet[duckdb]", "V1", 1, "tuned"),
        answer("Parquet[duckdb]", "V2", 4, "tuned"),
        *saved("Parquet[duckdb]", "defaults", 1.0),
        *saved("Parquet[duckdb]", "tuned", 3.0),
    ]
    text = study.read("query-sets").page(results(found)).markdown()
    assert "## Web visits, after ClickBench, 100,000 rows" in text
    assert "| Parquet[duckdb] | 0.71 | 0.50 (V2) | 1.00 (V1) | 3.00 | 1.00 |" in text
    assert "| Parquet[datafusion] | 1.55 | 1.39 | 2.00 | +43% |" in text
    assert re.search(r"\| V2, rows of a rare kind \| .*\[1\] \| 9.0 \| \*\*4.0\*\* \|", text)
    assert "\n1. it refuses\n" in text


def test_files_and_records_of_earlier_versions_make_the_tables_of_then(tmp_path):
    expected = rows_of((KEPT / "sets.md").read_text(encoding="utf-8"))
    of_csv = run("study", "query-sets", "--page", KEPT / "sets.csv")
    assert rows_of(of_csv.stdout) == expected
    # Records of the study that came before the suite.
    kept = StudyFile(query_sets.FORM, tmp_path)
    for each in read(query_sets.FORM, KEPT / "sets.csv"):
        kept.append(each)
    found = load(tmp_path)
    assert {(each.suite, each.rows) for each in found.records} == {("query_sets", 6_000)}
    assert rows_of(study.read("query-sets").page(found).markdown()) == expected
    # They are results like all others: a report has them, with its chooser.
    assert "Parquet[duckdb]" in report.page(found)


def test_unknown_data_sets_are_refused_in_one_line():
    done = run("study", "query-sets", "--sets", "tpcds")
    assert done.returncode == 2
    assert "there is no data set 'tpcds'" in done.stderr
    assert done.stderr.count("\n") == 1
