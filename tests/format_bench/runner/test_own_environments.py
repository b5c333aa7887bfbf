"""Formats whose libraries conflict: built, listed, measured in one run, resumed, and by asv."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from ast import literal_eval
from contextlib import suppress
from pathlib import Path

import pytest

from format_bench.results.records import read
from tests.factories import toy_environments
from tests.helpers import git

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
def variables(place):
    """Return the environment variables of programs in the clone."""
    # asv takes the path of Python's modules by a name of its own.
    own = dict.fromkeys(("PYTHONPATH", "ASV_PYTHONPATH"), str(place / "clone"))
    own |= {"HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    own |= {"FORMAT_BENCH_SCALE": "tiny", "FORMAT_BENCH_BUDGET_SECONDS": "0", "COLUMNS": "200"}
    return os.environ | own


@pytest.fixture(scope="module")
def call(place, variables):
    """Return a function that runs Python in the clone; it returns what is printed."""

    def run(*arguments, status=0, cwd=place / "clone"):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd,
            env=variables,
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
def test_a_killed_run_leaves_no_interpreter_and_goes_on(place, call, variables):
    command = ["main.py", *RUN, "--steps", "save,read", "--out", place / "killed"]
    results = place / "killed" / "results.jsonl"
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=place / "clone",
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as started:
        wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") > 0)
        started.kill()
    wait_until(lambda: not interpreters_in(place / "cache"))
    before = {(each.format, each.metric): each.run_id for each in read(results)}
    call(*command)
    found = {(each.format, each.metric): each for each in read(results)}
    assert {key: each.run_id for key, each in found.items() if key in before} == before
    assert {each.status for each in found.values()} == {"value"}
    for label, version in toy_environments.VERSIONS.items():
        assert (label, "read time") not in before or label == "One"
        assert f"toylib {version}" in found[label, "read time"].environment


def interpreters_in(folder):
    """Return the programs of a folder that are running."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found += [each for each in [path.read_text().partition("\0")[0]] if str(folder) in each]
    return found


def wait_until(is_so):
    for _ in range(2_400):
        if is_so():
            return
        time.sleep(0.05)
    raise TimeoutError


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


SIZE = "tabular.Tabular.track_size"


@pytest.mark.asv
@pytest.mark.usefixtures("out")
def test_asv_stores_their_values(place, call):
    clone = place / "clone"
    # Of this interpreter, since another one with all libraries would take minutes to make.
    conf = (clone / "asv.conf.json").read_text(encoding="utf-8").replace("full", "tiny")
    (clone / ".asv.tiny.json").write_text(conf, encoding="utf-8")
    options = ("--config", ".asv.tiny.json", "--machine", "tester")
    call("-m", "asv", "machine", "--yes", *options)
    cells = rf"{re.escape(SIZE)}\('(One|Two)', 'float'\)"
    commit = git(clone, "rev-parse", "HEAD").strip()
    of_this = ("--environment", f"existing:{sys.executable}", "--set-commit-hash", commit)
    call("-m", "asv", "run", *options, *of_this, "--bench", cells)
    (stored,) = (clone / ".asv/tiny/results/tester").glob(f"{commit[:8]}-*.json")
    values, (labels, datasets) = json.loads(stored.read_text(encoding="utf-8"))["results"][SIZE][:2]
    of_label = {
        literal_eval(label): values[place * len(datasets) + datasets.index("'float'")]
        for place, label in enumerate(labels)
    }
    assert all(of_label[label] > 0 for label in toy_environments.VERSIONS)


@pytest.mark.usefixtures("out")
def test_asv_measures_them(place, call):
    # Without it the project counts as installed, beside all other libraries.
    (place / "clone" / "pyproject.toml").unlink()
    working = place / "asv"
    working.mkdir()
    said = call("-c", ASV, cwd=working)
    assert len(re.findall(r"^(?:One|Two) \d+$", said, re.MULTILINE)) == len(toy_environments.VERSIONS)
