"""A family that is added as one package: seen by every command, by asv, reports and changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.factories import fake_family

FORMATS = ["Plain", "Spaced"]


@pytest.fixture(scope="module")
def project(clone_to, tmp_path_factory):
    """Return a clone with the family and nothing else added."""
    files = fake_family.FILES | fake_family.SECOND_ADAPTER
    return clone_to(tmp_path_factory.mktemp("family") / "clone", files)


@pytest.fixture(scope="module")
def call(project):
    """Return a function that runs Python in the clone, and returns what it prints."""

    def run(*arguments: object) -> str:
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=project,
            env=os.environ | {"PYTHONPATH": str(project), "FORMAT_BENCH_SCALE": "tiny"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def measured(call, tmp_path_factory):
    """Return the folder of a run of the suite, and what the run printed."""
    out = tmp_path_factory.mktemp("results") / "notes"
    printed = call("main.py", "run", "--suite", "notes", "--repeats", 2, "--out", out, "--cold")
    return out, printed


def test_it_is_listed(call):
    found = json.loads(call("main.py", "list", "--json"))
    assert [each["name"] for each in found["formats"] if each["family"] == "notes"] == FORMATS
    assert {"name": "shopping", "family": "notes", "description": "things to buy"} in found["datasets"]
    assert "notes" in [each["name"] for each in found["suites"]]


def test_it_is_measured_and_its_columns_are_shown(measured):
    out, printed = measured
    header = next(line for line in printed.splitlines() if line.startswith("format"))
    assert header.split() == ["format", "save", "read", "cold", "size", "lines"]
    assert "shopping, 50 notes" in printed
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert {each["status"] for each in lines} == {"value"}
    found = {each["format"]: each["value"] for each in lines if each["metric"] == "lines"}
    assert found == {"Plain": 50, "Spaced": 100}
    assert "Fewest lines: Plain" in printed


def test_it_is_reported(call, measured):
    out, _ = measured
    call("main.py", "report", out, "--out", out / "report.html")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Fewest lines" in page
    assert "shopping" in page
    assert "50 notes" in page


def test_it_is_recommended_from(call, measured):
    out, _ = measured
    answer = json.loads(call("main.py", "recommend", out, "--weight", "lines=1", "--json"))
    assert json.dumps(answer).index('"Plain"') < json.dumps(answer).index('"Spaced"')


def test_it_is_compared(call, measured):
    out, _ = measured
    assert "lines" in call("main.py", "compare", out, out)


DISCOVERED = """
import json
from asv_runner.discovery import disc_benchmarks
print(json.dumps({each.name: each._params for each in disc_benchmarks("benchmarks")}))
"""


def test_asv_discovers_its_benchmarks_beside_all_others(call):
    found = json.loads(call("-c", DISCOVERED))
    own = {name: params for name, params in found.items() if name.startswith("notes.")}
    assert own == {
        "notes.Notes.time_save": [["Plain", "Spaced"], ["shopping"]],
        "notes.Notes.track_lines": [["Plain", "Spaced"], ["shopping"]],
        "notes.Notes.track_size": [["Plain", "Spaced"], ["shopping"]],
        "notes.NotesLoad.track_lost_notes": [["Plain", "Spaced"], ["shopping"]],
        "notes.NotesLoad.track_read_memory": [["Plain", "Spaced"], ["shopping"]],
        "notes.NotesRead.time_read": [["Plain", "Spaced"], ["shopping"], ["warm", "cold"]],
    }
    assert "tabular.Tabular.time_save" in found


CHANGED = """
from format_bench.changes.series import OPERATIONS, FormatOperation
print(FormatOperation("notes", "Plain", OPERATIONS["track_lines"]))
"""


def test_changes_name_its_operations(call):
    assert call("-c", CHANGED) == "Plain (notes) lines\n"
