"""Cases that share a process: those that crash, hang or fail, beside good ones."""

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
from format_bench.results.suites import FAMILIES
from format_bench.runner.executor import TimeBudget, in_turn
from format_bench.runner.steps import SharedTrial, run_cases, store_data

if __name__ == "__main__":
    folder, budget = Path(sys.argv[1]), TimeBudget(float(sys.argv[2]))
    # A hang is waited for, so that one is enough.
    sizes = {"Hanging": (100,)}
    cases = [
        Case(label, "float", rows) for label in sys.argv[3:] for rows in sizes.get(label, (20, 100))
    ]
    data = {rows: folder / str(rows) for rows in (20, 100)}
    for rows, path in data.items():
        store_data(Case("CSV", "float", rows), path)
    steps = tuple((step, Effort(0.0, 1)) for step in FAMILIES["tables"].steps[:2])
    # A busy machine takes seconds to import what cases need.
    trial = SharedTrial(steps, 6.0, slow_seconds=1000.0)
    shared = (cases, run_cases, trial, data, folder)
    for case, whole in in_turn(cases[0], *shared, budget=budget, folder=folder):
        found = {"all": whole} if whole.status else {s.name: each for s, each in whole.value.items()}
        for step, each in found.items():
            facts = [case.format, case.rows, step, each.sentence]
            print(json.dumps([*facts, each.status or "value"]))
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


@pytest.mark.costly("format_bench.runner")
def test_a_hang_a_crash_and_an_error_cost_only_their_case(measure):
    found = measure(60, "Crashing", "Raising", "Hanging", "Good")
    crash, cheese = "its process crashed (SIGSEGV)", "RuntimeError: the disk is made of cheese"
    assert found == [
        *(["Crashing", rows, "all", crash, "failed"] for rows in (20, 100)),
        *(["Raising", rows, "save", cheese, "failed"] for rows in (20, 100)),
        ["Hanging", 100, "all", "its timer ran out", "timed out"],
        *(["Good", rows, step, "", "value"] for rows in (20, 100) for step in ("save", "read")),
    ]


@pytest.mark.costly("format_bench.runner")
def test_a_case_that_the_budget_interrupts_has_no_outcome(measure):
    assert measure(2, "Hanging") == []
