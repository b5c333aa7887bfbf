"""Results of version 0.1, before metrics and suites were declared: they can be read and continued."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import version

import pytest

from format_bench.report import page
from format_bench.results import records
from format_bench.results.load import RESULTS, load
from format_bench.results.metrics import METRICS
from format_bench.results.suites import SUITES
from tests.commands import run
from tests.helpers import ROOT

EARLIER = ROOT / "tests" / "data" / "results_0_1"


def test_the_study_of_noise_is_gone_in_one_line_and_its_files_are_not_read(folder):
    done = run("study", "noise", "--rows", 1000, "--out", folder / "noise.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    before = load(folder).records
    (folder / "noise.json").write_text('{"wall_time": 1.07, "cpu_time": 0.1, "memory": 0, "size": 0}')
    assert load(folder).records == before


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the folder of results, as of the Python and the libraries that are here."""
    copy = shutil.copytree(EARLIER, tmp_path / "run")
    (path,) = copy.glob("*-threads-all.json")
    facts = json.loads(path.read_bytes())
    facts["python"]["version"] = sys.version
    facts["libraries"] = {name: version(name) for name in facts["libraries"]}
    path.write_text(json.dumps(facts), encoding="utf-8")
    return copy


def test_every_record_is_read():
    found = load(EARLIER)
    assert {each.suite for each in found.records} == {"tabular", "image", "compression"}
    assert {each.suite for each in found.records} <= set(SUITES)
    assert all(METRICS[each.metric].unit == each.unit for each in found.records)
    assert len(found.metadata) == 1


def test_a_report_is_made_of_them():
    assert "Fastest to read" in page(load(EARLIER))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rows", 100, "--formats", "CSV,Feather", "--datasets", "eq", "--cold"),
        ("--image", "--rows", 10, "--formats", "NumPy", "--datasets", "cifar-like"),
        ("--compression", "--rows", 100, "--formats", "Feather", "--codecs", "none,lz4"),
    ],
)
def test_the_same_command_finds_every_cell_measured(folder, arguments):
    before = (folder / RESULTS).read_bytes()
    done = run("run", *arguments, "--repeats", 2, "--out", folder)
    assert done.returncode == 0, done.stderr
    after = (folder / RESULTS).read_bytes()
    assert after.startswith(before)
    # Earlier versions did not measure the libraries' own defaults.
    added = [records.parsed(line) for line in after[len(before) :].splitlines()]
    assert {each.conditions.get("settings") for each in added} <= {"defaults"}


def test_a_wider_command_adds_to_them(folder):
    before = records.read(folder / RESULTS)
    done = run("run", "--rows", 100, "--formats", "Pickle", "--repeats", 1, "--out", folder)
    assert done.returncode == 0, done.stderr
    found = records.read(folder / RESULTS)
    assert found[: len(before)] == before
    assert {each.format for each in found[len(before) :]} == {"Pickle"}
