"""Results that a run finds in its folder: read once, and measured again if of another environment."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from format_bench.cli.main import main
from format_bench.families.cases import Case
from format_bench.metadata import libraries, machine
from format_bench.results import records
from format_bench.results.load import RESULTS, load
from format_bench.results.records import key
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES
from format_bench.runner.cluster_ledger import ClusterRun, MachineLedger
from format_bench.runner.result_store import ResultStore
from format_bench.runner.runner import Limits, Runner
from tests.factories import fake_package

CASES = [Case(label, "float", 50) for label in ("CSV", "Pickle")]
STEPS = {"save"}
NOW = libraries.environment("CSV", "tabular")
OLDER = NOW.replace("CPython 3", "CPython 2").replace("pandas 3", "pandas 1")


def runner(folder, **options):
    return Runner(folder, folder, Limits(budget_seconds=0, repeats=1), steps=STEPS, **options)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the records of a run."""
    folder = tmp_path_factory.mktemp("measured")
    assert {each.environment for each in runner(folder).run(CASES)} == {
        libraries.environment(each.format, each.suite) for each in CASES
    }
    return records.read(folder / RESULTS)


def stored(folder, found):
    """Put records into a folder of results."""
    (folder / RESULTS).write_bytes(b"".join(map(records.line, found)))
    return found


def test_records_of_this_environment_are_not_measured_again(tmp_path, measured):
    stored(tmp_path, measured)
    assert list(runner(tmp_path).run(CASES)) == []
    assert list(ResultStore(tmp_path).remarks(CASES, STEPS)) == []
    assert records.read(tmp_path / RESULTS) == measured


def test_records_of_another_environment_are_measured_again_and_stay_in_the_file(tmp_path, measured):
    old = [replace(r, environment=OLDER) if r.format == "CSV" else r for r in measured]
    stored(tmp_path, old)
    number = sum(each.format == "CSV" for each in measured)
    again = runner(tmp_path)
    assert {each.format for each in again.store.read()} == {"Pickle"}
    (remark,) = again.store.remarks(CASES, STEPS)
    assert remark.startswith(f"{number} cells of another environment measured again: Python 2.")
    assert "; pandas 1." in remark
    found = list(again.run(CASES))
    assert {(each.format, each.environment) for each in found} == {("CSV", NOW)}
    # Not combined with the samples of the other environment.
    assert {each.rounds for each in found} == {1}
    assert records.read(tmp_path / RESULTS) == [*old, *found]
    assert {each.environment for each in load(tmp_path).records if each.format == "CSV"} == {NOW}
    assert list(again.store.remarks(CASES, STEPS)) == []
    assert list(runner(tmp_path).run(CASES)) == []


def test_steps_that_are_not_measured_are_not_told(tmp_path, measured):
    stored(tmp_path, [replace(each, environment=OLDER) for each in measured])
    store = ResultStore(tmp_path)
    store.refresh()
    assert list(store.remarks(CASES, {"read"})) == []
    assert list(store.remarks(CASES[1:], None)) != []


def with_metadata(folder, found, **changes):
    """Store records as of a release without environments, with the metadata of their run."""
    stored(folder, [replace(each, environment="") for each in found])
    parts = dict(part.split(" ", 1) for part in NOW.split(", "))
    facts = {
        "started": "2026-01-01T00:00:00",
        "python": {"implementation": "CPython", "version": f"{parts['CPython']} (main) [GCC]"},
        "libraries": {name: parts.get(name) for name in ("numpy", "pandas", "pyarrow")} | changes,
    }
    path = folder / f"{found[0].run_id}-threads-all.json"
    path.write_text(json.dumps(facts), encoding="utf-8")


def test_older_records_are_of_the_environment_that_their_metadata_name(tmp_path, measured):
    with_metadata(tmp_path, measured)
    assert list(runner(tmp_path).run(CASES)) == []
    with_metadata(tmp_path, measured, pandas="1.5.3")
    assert {key(each) for each in runner(tmp_path).run(CASES)} == {key(each) for each in measured}


def test_older_records_without_metadata_are_kept_and_told(tmp_path, measured):
    stored(tmp_path, [replace(each, environment="") for each in measured])
    kept = runner(tmp_path)
    assert list(kept.run(CASES)) == []
    (remark,) = kept.store.remarks(CASES, STEPS)
    assert remark == f"{len(measured)} cells of an unknown environment kept; --fresh starts over"


def test_records_of_another_machine_are_kept_and_told(tmp_path, measured):
    stored(tmp_path, measured)
    path = tmp_path / f"{measured[0].run_id}-threads-all.json"
    cells = len(measured)
    told = f"{cells} cells of another machine (Z80, 1 CPUs) kept; --fresh starts over"
    for cpu, remarks in ((machine.cpu(), []), ({"model": "Z80", "usable": 1}, [told])):
        path.write_text(json.dumps({"started": "2026", "cpu": cpu}))
        store = ResultStore(tmp_path)
        store.refresh()
        assert list(store.remarks(CASES, STEPS)) == remarks


def test_on_a_cluster_measured_work_that_changed_is_done_again(tmp_path, measured):
    run = ClusterRun("id", tuple(CASES), Limits(repeats=1), frozenset(STEPS), tmp_path)

    def left(environment):
        found = [replace(each, machine="m", environment=environment) for each in measured]
        return MachineLedger("m", run, found, "new").next_rounds()

    # Python and libraries are those of the machine, and not of this process.
    version = SUITES["tabular"].version
    assert left(f"CPython 2.7.18, measurement {version}, pandas 0.1") == {}
    assert left("") == {}
    assert left(f"CPython 2.7.18, measurement {version - 1}, pandas 0.1") == {0: 1, 1: 1}


def test_a_file_that_another_process_changed_is_read_again(tmp_path, measured):
    store = ResultStore(tmp_path)
    store.refresh()
    assert store.current == {}
    store.append(measured[0])
    records.append(tmp_path / RESULTS, measured[1])
    store.refresh()
    assert list(store.current.values()) == measured[:2]


RUN = """
import sys
from pathlib import Path
from format_bench.families.cases import Case
from format_bench.metadata import libraries
from format_bench.runner.runner import Limits, Runner

# Asking all libraries for their versions takes seconds.
libraries.facts_from_child = lambda *_: {}

if __name__ == "__main__":
    out = Path(sys.argv[1])
    runner = Runner(out, out, Limits(budget_seconds=0, repeats=1), steps={"save"})
    print(len(list(runner.run([Case("Broken", "float", 50)]))))
"""


@pytest.mark.costly("format_bench.families", "format_bench.runner")
def test_a_format_is_tried_again_when_its_package_is_there(tmp_path):
    installed, out = tmp_path / "installed", tmp_path / "out"
    variables = fake_package.install(installed)
    out.mkdir()

    def run():
        command = [sys.executable, "-c", RUN, out]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[0])

    cells = run()
    assert cells > 0
    first = records.read(out / RESULTS)
    assert {each.status for each in first} == {CellStatus.UNAVAILABLE}
    assert run() == 0
    (installed / "a_package_that_nobody_wrote.py").write_text("")
    facts = installed / "a_package_that_nobody_wrote-1.0.dist-info"
    facts.mkdir()
    named = "Metadata-Version: 2.1\nName: a_package_that_nobody_wrote\nVersion: 1.0\n"
    (facts / "METADATA").write_text(named)
    assert run() == cells
    assert {each.status for each in load(out).records} == {CellStatus.VALUE}
    assert "a_package_that_nobody_wrote 1.0" in load(out).records[0].environment
    assert records.read(out / RESULTS)[: len(first)] == first
    # This process lacks the package: a value of another environment is not shown as one of this.
    store = ResultStore(out)
    store.refresh()
    assert store.current == {}
    assert len(store.outdated) == cells


READS: list[object] = []


def note_reads(event, arguments):
    if event == "open" and str(arguments[0]).endswith(RESULTS) and arguments[1] in {"r", "rb"}:
        READS.append(arguments)


def test_a_run_reads_its_results_once(tmp_path, measured):
    stored(tmp_path, measured)
    sys.addaudithook(note_reads)
    what = ["--formats", "CSV,Pickle", "--rows", "500", "--datasets", "float", "--steps", "save"]
    places = ["--out", str(tmp_path), "--scratch", str(tmp_path)]
    with pytest.raises(SystemExit) as caught:
        main(["run", *what, *places, "--repeats", "2", "--time-budget", "10000s"])
    assert not caught.value.code
    # The sample is measured, too, in one round.
    found = records.read(tmp_path / RESULTS)
    assert {(each.rows, each.rounds) for each in found} == {
        (20, 1),
        (50, 1),
        (500, 1),
        (500, 2),
    }
    # By the run, and by the line above.
    assert len(READS) == 2
