"""The study of faults: records of broken saves, their page, and the report on them."""

from __future__ import annotations

from format_bench import report
from format_bench.results.load import load
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyFile, read
from format_bench.studies.faults import FORM, FULL_DISK, KILLED, REFUSED, FaultRow, Found, Saved
from tests.commands import run

CELL = "Parquet", "core", 2000

ROWS = [
    FaultRow(*CELL, "reset once", 0.25, 7, 1, 1, 0, 0, f"{Saved.DONE}; {Found.WHOLE}"),
    FaultRow(*CELL, KILLED, 0.5, 5, 0, 2, 1, 1, f"{Saved.KILLED}; {Found.PARTIAL}"),
    FaultRow(*CELL, REFUSED, 0.1, 3, 0, 0, 0, 0, f"{Saved.ERROR}; {Found.ABSENT}: no: key"),
    FaultRow(*CELL, FULL_DISK, sentence="no disk", status=CellStatus.UNAVAILABLE),
]


def test_records_make_the_page_of_the_rows_and_are_in_the_report(tmp_path):
    kept = StudyFile(FORM, tmp_path)
    for each in ROWS:
        kept.append(each)
    assert read(FORM, tmp_path) == ROWS
    page = run("study", "faults", "--page", tmp_path, "--sentences").stdout
    cells = [
        *("Parquet", "unavailable", "unavailable", "done, 0.2 s, 1 retry; whole (1 object)"),
        *(
            "unavailable",
            "unavailable",
            "killed, 0.5 s; **partial taken for whole** (2 objects + 1 upload)",
        ),
        *("error, 0.1 s; absent", "unavailable"),
    ]
    assert f"| {' | '.join(cells)} |" in page
    assert "- Parquet, refused credentials: no: key" in page
    assert "## Errors" not in run("study", "faults", "--page", tmp_path).stdout
    results = load(tmp_path)
    (missing,) = {each.status for each in results.records if each.conditions["fault"] == FULL_DISK}
    assert missing is CellStatus.UNAVAILABLE
    assert "partial reads" in report.page(results)


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path):
    done = run("study", "faults", "Parket", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "Parket" in done.stderr
    assert list(tmp_path.iterdir()) == []
