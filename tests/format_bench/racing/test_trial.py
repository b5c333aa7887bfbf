"""Trials in fresh processes: cases that crash, hang or fail, beside good ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.factories import fake_package

TRIAL = """
import json
import sys
from pathlib import Path

from format_bench.families.cases import Case
from format_bench.instruments.clock import Effort
from format_bench.racing import trial
from format_bench.results.suites import FAMILIES
from format_bench.runner.steps import store_data

if __name__ == "__main__":
    folder, limit_seconds = Path(sys.argv[1]), float(sys.argv[2])
    cases = [Case(label, "float", rows) for label in sys.argv[3:] for rows in (20, 100)]
    data = {rows: folder / str(rows) for rows in (20, 100)}
    for case in cases[:2]:
        store_data(case, data[case.rows])
    steps = tuple((step, Effort(0.0, 1)) for step in FAMILIES["tables"].steps[:2])
    # Fake formats have no codecs to be told apart by: each has a trial of its own.
    for first in range(0, len(cases), 2):
        plan = trial.TrialPlan(tuple(cases[first : first + 2]), steps, data, limit_seconds, 4.0)
        for found in trial.run(plan, folder):
            outcome = found.outcome
            facts = [found.case.format, found.case.rows, found.step.name, outcome.sentence]
            print(json.dumps([*facts, outcome.status or "value"]))
"""


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    """Return a function that measures fake formats and returns the outcomes of their steps."""
    folder = tmp_path_factory.mktemp("trials")
    environment = fake_package.install(folder / "installed")
    script = folder / "trial.py"
    script.write_text(TRIAL, encoding="utf-8")

    def run(limit_seconds, *labels):
        command = [sys.executable, script, folder, str(limit_seconds), *labels]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def test_a_hang_a_crash_and_an_error_cost_only_their_case(measure):
    found = measure(60, "Hanging", "Crashing", "Raising", "Good")
    assert found == [
        ["Hanging", 20, "save", "not finished after 4 seconds", "timed out"],
        ["Crashing", 20, "save", "its process crashed (SIGSEGV)", "failed"],
        ["Raising", 20, "save", "RuntimeError: the disk is made of cheese", "failed"],
        ["Raising", 100, "save", "RuntimeError: the disk is made of cheese", "failed"],
        *(["Good", rows, step, "", "value"] for rows in (20, 100) for step in ("save", "read")),
    ]


def test_a_case_that_the_budget_interrupts_has_no_outcome(measure):
    assert measure(2, "Hanging") == []
