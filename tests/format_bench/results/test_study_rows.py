"""Rows of studies as records, and back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results import records
from format_bench.results.load import load
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyFile, StudyForm, read


@dataclass(frozen=True)
class Asked:
    """A question to a file of a format."""

    format: str
    engine: str
    rows: int
    is_deep: bool
    delay_ms: float
    question: str
    file_bytes: int = 0
    seconds: float = 0.0
    all_seconds: tuple[float, ...] = ()
    place: str = "here"
    reason: str = ""


FORM = StudyForm(
    suite="toy",
    of=Asked,
    values={
        "file_bytes": ("size", ""),
        "seconds": "query CPU time",
        "all_seconds": "query time",
    },
    named={"question": "query"},
    dataset="eq",
)

ROWS = [
    Asked("Parquet", "duckdb", 10, True, 0.1, "one", 2000, 0.25, (0.5, 0.75, 0.25)),
    Asked("Parquet", "duckdb", 10, True, 0.1, "two", 2000, 0.5, (0.5,), place="there"),
    Asked("Parquet", "duckdb", 10, True, 0.1, "three", 2000, reason="it cannot"),
    Asked("CSV", "", 10, False, 1 / 3, "", reason="nothing was saved"),
]


def test_rows_come_back_as_they_were(tmp_path):
    file = StudyFile(FORM, tmp_path / "out")
    for each in ROWS:
        file.append(each)
    assert read(FORM, tmp_path / "out") == ROWS
    assert read(FORM, tmp_path / "out" / "results.jsonl") == ROWS


def test_records_have_metrics_conditions_and_reasons(tmp_path):
    file = StudyFile(FORM, tmp_path)
    for each in ROWS:
        file.append(each)
    found = load(tmp_path).records
    assert {each.suite for each in found} == {"toy"}
    size, *_ = [each for each in found if each.metric == "size"]
    assert (size.value, size.query, size.format, size.engine) == (2000, "", "Parquet[duckdb]", "duckdb")
    assert size.conditions == {"threads": "1", "is deep": "yes", "delay ms": "0.1"}
    median = next(each for each in found if each.metric == "query time" and each.query == "one")
    assert (median.value, median.repeats, median.cache) == (0.5, [0.5, 0.75, 0.25], "warm")
    failed = next(each for each in found if each.query == "three")
    assert (failed.status, failed.sentence) == (CellStatus.FAILED, "it cannot")


def test_a_value_of_all_queries_is_written_once_for_each_place(tmp_path):
    file = StudyFile(FORM, tmp_path)
    for each in ROWS[:1] * 3:
        file.append(each)
    assert [each.metric for each in records.read(tmp_path / "results.jsonl")] == [
        "size", "query CPU time", "query time",
    ]  # fmt: skip


def test_the_last_row_of_a_cell_counts_and_others_are_left_out(tmp_path):
    StudyFile(FORM, tmp_path).append(ROWS[0])
    later = Asked("Parquet", "duckdb", 10, True, 0.1, "one", 2100, 0.75, (0.5,))
    StudyFile(FORM, tmp_path).append(later)
    other = StudyForm("other", Asked, FORM.values, FORM.named, FORM.dataset)
    StudyFile(other, tmp_path).append(ROWS[1])
    assert read(FORM, tmp_path) == [later]
    assert read(other, tmp_path) == [ROWS[1]]


@pytest.mark.parametrize("name", ["none", "none.csv", "none.jsonl"])
def test_missing_results_are_one_line(tmp_path, name):
    with pytest.raises(InvalidResultsError, match=f"{name} does not exist$"):
        read(FORM, tmp_path / name)
