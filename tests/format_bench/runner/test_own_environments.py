"""Formats whose libraries conflict: built, listed, measured in one run, resumed, and under asv."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from format_bench.results.records import read
from tests.factories import toy_environments

pytestmark = pytest.mark.costly(
    "adapter_core.environments",
    "format_bench.asv_support",
    "format_bench.library_sets",
    "format_bench.runner",
)

RUN = ("run", "--formats", "One,Two,Pickle", "--datasets", "float", "--rows", 50, "--repeats", 1)


@pytest.fixture(scope="module")
def place(clone_to, tmp_path_factory):
    """Return a clone with two formats that pin different versions of a library."""
    folder = tmp_path_factory.mktemp("environments")
    (folder / "wheels").mkdir()
    clone_to(folder / "clone", toy_environments.files(folder / "wheels"))
    return folder


@pytest.fixture(scope="module")
def call(place):
    """Return a function that runs Python in the clone; it returns what is printed."""

    def run(*arguments, status=0, cwd=place / "clone"):
        own = {"PYTHONPATH": str(place / "clone"), "XDG_CACHE_HOME": str(place / "cache")}
        own |= {"FORMAT_BENCH_SCALE": "tiny", "FORMAT_BENCH_BUDGET_SECONDS": "0", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd,
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def out(place, call):
    """Return the results of a run before one environment was built, resumed after that."""
    out = place / "out"
    call("main.py", "build", "environment", "toy_one")
    call("main.py", *RUN, "--steps", "save", "--out", out)
    before = read(out / "results.jsonl")
    assert {each.status for each in before if each.format == "Two"} == {"unavailable"}
    reason = "Two is unavailable: its environment toy_two is not built"
    hint = "format-bench build environment toy_two"
    assert {each.sentence for each in before if each.format == "Two"} == {f"{reason}; try: {hint}"}
    built = call("main.py", "build", "environment")
    assert re.findall(r"toy_\w+-\w{12}-python3\.\d+", built)
    call("main.py", *RUN, "--steps", "save,read", "--out", out)
    return out


def test_formats_with_conflicting_pins_are_measured_in_one_run(out):
    last = {(each.format, each.metric): each for each in read(out / "results.jsonl")}
    for label, version in toy_environments.VERSIONS.items():
        found = last[label, "read time"]
        assert found.value, found.sentence
        assert f"toylib {version}" in found.environment
        assert last[label, "lost columns"].value == 0
    assert "toylib" not in last["Pickle", "read time"].environment


def test_what_was_measured_is_kept_when_a_run_goes_on(out):
    found = read(out / "results.jsonl")
    for label, runs in (("One", 1), ("Two", 2), ("Pickle", 1)):
        sizes = [each for each in found if (each.format, each.metric) == (label, "size")]
        assert len({each.run_id for each in sizes}) == runs


@pytest.mark.usefixtures("out")
def test_they_are_listed_with_their_environment(call):
    (line,) = [each for each in call("main.py", "list").splitlines() if each.startswith("Two ")]
    assert re.search(r"toylib 2\.0 +installed, in its environment toy_two *$", line)
    found = {each["name"]: each for each in json.loads(call("main.py", "list", "formats", "--json"))}
    assert found["One"]["available"] == "yes, in its environment toy_one"
    assert "toylib 1.0" in found["One"]["versions"]


def test_an_environment_without_a_lock_has_one_line(call):
    said = call("main.py", "build", "environment", "toy_on", status=2)
    assert said.count("\n") == 1
    assert "toy_one" in said


ASV = """
from benchmarks import _suites
_suites.prepare("tabular")
suite = _suites.suites.SUITES["tabular"]
for label in ("One", "Two"):
    method = _suites.benchmarks_of("tabular")["Tabular"].track_size
    method.setup(label, "float")
    print(label, method(None))
"""


@pytest.mark.usefixtures("out")
def test_asv_measures_them(place, call):
    # Without it the project counts as installed, beside all other libraries.
    (place / "clone" / "pyproject.toml").unlink()
    working = place / "asv"
    working.mkdir()
    said = call("-c", ASV, cwd=working)
    assert len(re.findall(r"^(?:One|Two) \d+$", said, re.MULTILINE)) == len(toy_environments.VERSIONS)
