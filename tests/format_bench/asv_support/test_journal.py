"""Journal of cells whose processes ended in the middle."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest
from asv.results import Results
from asv.runner import BenchmarkResult

from format_bench.asv_support.journal import Journal
from format_bench.asv_support.results import NOT_SELECTED, UNEXPLAINED, run_of
from format_bench.instruments import memory_limit
from format_bench.results.status import CellStatus

CELL = ["CSV", "eq"]

CRASH = """
import faulthandler, sys
from pathlib import Path
from format_bench.asv_support.journal import Journal
Journal(Path(sys.argv[1]), "env", "abc").watch(sys.argv[2], ["CSV", "eq"], 60)
faulthandler._sigsegv()
"""


def crash(folder, suite):
    ended = subprocess.run(
        [sys.executable, "-c", CRASH, folder, suite], capture_output=True, check=False
    )
    assert ended.returncode < 0


@pytest.fixture
def journal(tmp_path):
    crash(tmp_path, "tabular.Tabular")
    crash(tmp_path, "engines.Engines")
    return Journal(tmp_path, "env", "abc")


def test_a_crash_fails_the_cell_in_its_own_run(journal):
    assert journal.ended_badly("tabular.Tabular", CELL).status is CellStatus.FAILED
    assert journal.ended_badly("tabular.TabularRead", CELL) is None


def test_a_later_run_tries_the_cell_again_and_keeps_the_sentence(journal):
    before = {each.suite: each for each in journal.read()}
    journal.settle("tabular")
    assert journal.ended_badly("tabular.Tabular", CELL) is None
    assert journal.ended_badly("engines.Engines", CELL)
    assert {each.suite: each for each in journal.read()} == before
    assert "Segmentation fault" in before["tabular.Tabular"].sentence


def test_a_note_that_the_disk_had_no_room_for_is_none(journal):
    before = journal.read()
    journal.notes.joinpath("1-1.new").touch()
    assert journal.read() == before
    journal.settle("tabular")


def test_a_later_reason_comes_after_an_earlier_one(journal):
    journal.settle("tabular")
    journal.write("tabular.Tabular", CELL, CellStatus.UNSUPPORTED, "nulls")
    said = [each.sentence for each in journal.read() if each.suite == "tabular.Tabular"]
    assert said[-1] == "nulls"


COMMIT = "a" * 40


def run_with(values, datasets, folder):
    """Return the cells of a benchmark of which asv has some values."""
    benchmark = {
        "name": "tabular.Tabular.time_save",
        "pretty_name": "Table: save time",
        "params": [["'CSV'", "'XML'", "'XML[etree]'"], [repr(each) for each in datasets]],
        "param_names": ["format", "dataset"],
        "unit": "seconds",
        "version": "1",
    }
    taken = [None if value is None or math.isnan(value) else [value] for value in values]
    empty = {"errcode": 0, "stderr": "", "profile": None}
    numbers = [None if each is None else 1 for each in taken]
    result = Results({"machine": "m", "cpu": ""}, {}, COMMIT, 0, "3", "env", {})
    result.add_result(benchmark, BenchmarkResult(values, taken, numbers, **empty), record_samples=True)
    return run_of(result, {benchmark["name"]: benchmark}, folder).cells


HUNGRY = """
import sys
from pathlib import Path
from format_bench.asv_support.journal import Journal
Journal(Path(sys.argv[1]), "env", "abc").watch("tabular.Tabular", ["CSV", "eq"], 60)
taken = b"x" * 500_000_000
print(flush=True)
input()
"""


def test_a_cell_ended_for_want_of_memory_says_so_and_smaller_processes_go_on(tmp_path, monkeypatch):
    left = iter([])
    monkeypatch.setattr(memory_limit, "available_bytes", lambda: next(left, 10**12))
    monkeypatch.setattr(memory_limit, "total_bytes", lambda: total)
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], **options) as small,
        subprocess.Popen([sys.executable, "-c", HUNGRY, tmp_path], **options) as hungry,
    ):
        hungry.stdout.readline()
        with memory_limit.largest_ended_below(10**9):
            # First other programs have most of it.
            total, left = 10**10, iter([10**9 - 1])
            time.sleep(1)
            assert hungry.poll() is None
            total, left = 10**9, iter([10**9 - 1])
            assert hungry.wait(30) == -memory_limit.OUT_OF_MEMORY
        assert small.poll() is None
        small.communicate(b"\n")
    reason = Journal(tmp_path, "env", "abc").ended_badly("tabular.Tabular", CELL)
    assert reason.status is CellStatus.FAILED
    assert reason.sentence.startswith("it took the memory that this machine has, at <string>")


def test_one_reason_for_a_format_is_that_of_all_its_empty_cells(tmp_path):
    journal = Journal(tmp_path / "reasons", "env", COMMIT)
    journal.write("tabular", ["XML"], CellStatus.UNAVAILABLE, "not measured in 2026-12")
    cells = run_with([1.0, math.nan, None], ["eq"], tmp_path)
    assert [(each.value, each.status, each.sentence) for each in cells] == [
        (1.0, "value", ""),
        (None, "unavailable", "not measured in 2026-12"),
        (None, "failed", UNEXPLAINED),
    ]


def test_a_data_set_that_no_run_has_selected_is_left_out(tmp_path):
    values = [1.0, math.nan, math.nan, math.nan, math.nan, math.nan]
    cells = run_with(values, ["eq", "str"], tmp_path)
    assert [(each.format, each.dataset) for each in cells] == [
        (label, "eq") for label in ("CSV", "XML", "XML[etree]")
    ]
    assert {each.sentence for each in cells[1:]} == {NOT_SELECTED}
