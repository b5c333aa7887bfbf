"""Journal of cells whose processes ended in the middle."""

from __future__ import annotations

import subprocess
import sys

import pytest

from format_bench.asv_support.journal import Journal
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


def test_a_later_reason_comes_after_an_earlier_one(journal):
    journal.settle("tabular")
    journal.write("tabular.Tabular", CELL, CellStatus.UNSUPPORTED, "nulls")
    said = [each.sentence for each in journal.read() if each.suite == "tabular.Tabular"]
    assert said[-1] == "nulls"
