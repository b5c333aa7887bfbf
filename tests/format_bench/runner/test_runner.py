"""The runner: its records, also of runs that fail, hang, crash or are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from adapter_core import errors
from format_bench.families.cases import Case
from format_bench.families.operations import Measured
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.results import records
from format_bench.results.conditions import Conditions
from format_bench.results.load import RESULTS
from format_bench.results.records import key
from format_bench.results.status import BUDGET_SPENT, CellStatus
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.runner import folders
from format_bench.runner.result_store import combined, keys
from format_bench.runner.result_store import records_of as step_records
from format_bench.runner.runner import Limits, Runner
from tests.factories import fake_package
from tools.check_crash_recovery import kill_and_resume

STEPS = FAMILIES["tables"].steps_of(SUITES["tabular"])

RUN = """
import resource
import sys
from dataclasses import replace
from pathlib import Path
from format_bench.families.cases import Case
from format_bench.runner.runner import Limits, Runner

if __name__ == "__main__":
    cases = [Case(label, "float", 100) for label in sys.argv[2].split()]
    out, scratch = Path(sys.argv[1], "out"), Path(sys.argv[1], "scratch")
    scratch.mkdir(exist_ok=True)
    # Inherited by the measuring processes: one of the formats eats all memory.
    resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
    runner = Runner(out, scratch, Limits(budget_seconds=0))

    def limit(case, *_):
        # What hangs is waited for; the others need no more time than a busy machine makes them.
        limit_seconds = 3 if case.format == "Hanging" else 60
        runner.limits = replace(runner.limits, limit_seconds=limit_seconds)

    runner.watch = limit
    print(len(list(runner.run(cases))))
"""


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Results of all fake formats, their folder, and the function that runs them again."""
    folder = tmp_path_factory.mktemp("toys")
    environment = fake_package.install(folder / "installed")
    script = folder / "run.py"
    script.write_text(RUN, encoding="utf-8")

    def run(labels: str) -> int:
        command = [sys.executable, script, folder, labels]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    run(" ".join(fake_package.TOYS))
    return folder, run


def records_of(folder: Path, label: str):
    # Not by a runner: the fake formats are not installed in this process' environment.
    last = {key(record): record for record in records.read(folder / "out" / RESULTS)}
    return [record for record in last.values() if record.format == label]


def test_a_good_format_has_a_value_in_every_cell(toys):
    found = records_of(toys[0], "Good")
    assert {key(record) for record in found} == {
        each for step in STEPS for each in keys(Case("Good", "float", 100), step)
    }
    assert [record.sentence for record in found if record.value is None] == []


@pytest.mark.parametrize(
    ("label", "status", "words"),
    [
        ("Crashing", "failed", "its process crashed (SIGSEGV)"),
        ("Hanging", "timed out", "not finished after 3 seconds"),
        ("Raising", "failed", "RuntimeError: the disk is made of cheese"),
        ("Eating", "failed", "MemoryError"),
        ("Filling", "failed", "OSError: [Errno 27] File too large"),
        ("Exacting", "unsupported", "Exacting cannot store this table: column 'bool_0' contains"),
        ("Broken", "unavailable", "a_package_that_nobody_wrote is not installed"),
        ("Lying", "failed", "came back wrong"),
    ],
)
def test_a_bad_format_costs_its_own_cells_and_gives_reasons(toys, label, status, words):
    found = records_of(toys[0], label)
    assert {key(record) for record in found} == {
        each for step in STEPS for each in keys(Case(label, "float", 100), step)
    }
    assert {(record.status.value, record.value) for record in found} == {(status, None)}
    assert all(words in record.sentence for record in found), found[0].sentence


def test_no_file_is_left_behind_and_no_cell_is_measured_again(toys):
    folder, run = toys
    assert list((folder / "scratch").iterdir()) == []
    before = (folder / "out" / RESULTS).read_bytes()
    # A failure for want of memory says nothing about the format, and is tried again.
    assert run(" ".join(each for each in fake_package.TOYS if each != "Eating")) == 0
    assert (folder / "out" / RESULTS).read_bytes() == before


def test_run_metadata_are_written_beside_the_results(toys):
    folder, _ = toys
    (path,) = (folder / "out").glob("*.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["threads"]["policy"] == "all"
    assert facts["ended"] >= facts["started"]
    assert {record.run_id for record in records_of(folder, "Good")} == {
        path.stem.removesuffix("-threads-all")
    }


def test_pandas_reads_the_results_in_one_line(toys):
    df = pd.read_json(toys[0] / "out" / RESULTS, lines=True)
    good = df[(df.format == "Good") & (df.metric == "save time")]
    assert good.value.item() > 0
    assert good.unit.item() == "seconds"
    assert len(good.repeats.item()) >= 3


def test_one_thread_and_all_are_cells_of_their_own(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    cases = [Case("Feather", "eq", 100, Conditions({"threads": threads})) for threads in ("1", "all")]
    found = list(Runner(tmp_path / "out", scratch, Limits(budget_seconds=0)).run(cases))
    assert {record.threads for record in found if record.value is not None} == {"1", "all"}
    for policy, cpus in (("1", 1), ("all", None)):
        (path,) = (tmp_path / "out").glob(f"*-threads-{policy}.json")
        facts = json.loads(path.read_text(encoding="utf-8"))
        assert facts["threads"]["in_force"]["cpus"] == (cpus or facts["cpu"]["usable"])


@pytest.mark.usefixtures("libraries_unasked")
def test_rounds_add_samples_of_processes_of_their_own(tmp_path):
    case = Case("Feather", "eq", 100)
    steps = []
    runner = Runner(
        tmp_path, tmp_path, Limits(rounds=2, budget_seconds=0), watch=lambda *what: steps.append(what)
    )
    cases = [case, Case("Pickle", "eq", 100)]
    records = list(runner.run(cases))
    assert steps == [(each, step, number) for number in (1, 2) for each in cases for step in STEPS]
    (first, second) = [
        each for each in records if (each.format, each.metric) == ("Feather", "save time")
    ]
    assert (first.rounds, second.rounds) == (1, 2)
    assert second.repeats[: len(first.repeats)] == first.repeats
    # Three samples at least, of two processes that take two each.
    assert len(second.repeats) == 4
    assert runner.store.read() == [record for record in records if record.rounds == 2]
    assert list(Runner(tmp_path, tmp_path, Limits(rounds=2)).run(cases)) == []
    more = list(Runner(tmp_path, tmp_path, Limits(rounds=3, budget_seconds=0)).run([case]))
    assert {record.rounds for record in more} == {3}


def test_a_value_survives_a_later_round_without_one():
    (case, step) = Case("Feather", "eq", 100), STEPS[0]
    good = Outcome([Measured(metric, [1.0, 3.0]) for metric in step.metrics])
    bad = Outcome(None, CellStatus.FAILED, "its process crashed (SIGSEGV)")
    wrong = Outcome(None, CellStatus.FAILED, "came back wrong: all of it", "WrongValuesError")
    first, failed, refuted = (
        next(step_records(case, 2, step, outcome, "run")) for outcome in (good, bad, wrong)
    )
    assert combined(None, first, good) == first
    kept = combined(first, failed, bad)
    assert (kept.value, kept.rounds) == (2.0, 2)
    assert kept.sentence == "round 2: failed: its process crashed (SIGSEGV)"
    assert combined(first, refuted, wrong).value is None


@pytest.mark.usefixtures("libraries_unasked")
def test_a_step_that_the_time_budget_ends_can_be_measured_later(tmp_path):
    case = Case("Excel", "eq", 60_000)
    runner = Runner(tmp_path, tmp_path, Limits(time_budget_seconds=1.0))
    assert list(runner.run([case])) == []
    assert len(runner.left([case])) == len(STEPS)


@pytest.mark.usefixtures("libraries_unasked")
def test_data_that_the_time_budget_ends_can_be_made_later(tmp_path, monkeypatch):
    cases = [Case(label, "eq", 100) for label in ("Feather", "Pickle")]

    def unfinished(*_, limit_seconds, **__):
        time.sleep(limit_seconds)
        return Outcome(None, CellStatus.TIMED_OUT, "not finished after 0 seconds")

    monkeypatch.setattr(isolation, "run", unfinished)
    limits = Limits(time_budget_seconds=0.1, step_share_seconds=0.01)
    runner = Runner(tmp_path, tmp_path, limits)
    assert list(runner.run(cases)) == []
    assert len(runner.left(cases)) == len(cases) * len(STEPS)


@pytest.mark.usefixtures("libraries_unasked")
def test_a_step_that_needs_more_than_its_share_of_the_budget_is_measured_later(tmp_path):
    case = Case("Pickle", "eq", 100)
    # Making the data takes longer than that, and is no part of a step.
    limits = Limits(budget_seconds=0, time_budget_seconds=300, step_share_seconds=0.001)
    found = list(Runner(tmp_path, tmp_path, limits, steps={"save"}).run([case]))
    assert {(each.status, each.sentence) for each in found} == {(CellStatus.TIMED_OUT, BUDGET_SPENT)}
    again = Runner(tmp_path, tmp_path, Limits(budget_seconds=0), steps={"save"})
    assert again.store.tried_again([case]) == len(found)
    assert {each.status for each in again.run([case])} == {CellStatus.VALUE}
    assert again.left([case]) == []


@pytest.mark.usefixtures("libraries_unasked")
def test_a_case_that_costs_more_than_the_time_budget_is_left_out(tmp_path):
    cheap, dear = (Case(label, "eq", 100) for label in ("Feather", "Pickle"))
    limits = Limits(budget_seconds=0, time_budget_seconds=300)
    runner = Runner(tmp_path, tmp_path, limits, costs={cheap: 0.1, dear: 1_000.0})
    assert {record.format for record in runner.run([dear, cheap])} == {"Feather"}


@pytest.mark.usefixtures("libraries_unasked")
def test_the_time_budget_ends_a_run_between_cases(tmp_path):
    cases = [Case(label, "eq", 100) for label in ("Feather", "Pickle")]
    assert list(Runner(tmp_path, tmp_path, Limits(time_budget_seconds=0)).run(cases)) == []
    assert len(list(Runner(tmp_path, tmp_path, Limits(budget_seconds=0)).run(cases))) > 0


@pytest.mark.usefixtures("libraries_unasked")
def test_images_are_measured_like_tables(tmp_path):
    case = Case("NumPy", "cifar-like", 40, suite="image")
    found = list(Runner(tmp_path, tmp_path, Limits(budget_seconds=0)).run([case]))
    assert {key(record) for record in found} == {
        each for step in case.steps for each in keys(case, step)
    }
    assert {record.sentence for record in found if record.value is None} == set()


@pytest.mark.costly
def test_killed_runs_resume(tmp_path):
    assert kill_and_resume(tmp_path, kills=4, seed=2) >= 1


def test_two_runs_do_not_write_to_the_same_results(tmp_path):
    run = Runner(tmp_path, tmp_path).run([Case("Pickle", "eq", 1)])
    with (
        folders.only_run(tmp_path),
        pytest.raises(errors.LockedError, match="another run is writing"),
    ):
        next(run)


def test_the_scratch_folder_of_a_living_run_is_left_alone(tmp_path):
    with folders.make(tmp_path) as first:
        (tmp_path / "format-bench-left").mkdir()
        with folders.make(tmp_path):
            assert first.is_dir()
            assert not (tmp_path / "format-bench-left").exists()
    assert list(tmp_path.iterdir()) == []
