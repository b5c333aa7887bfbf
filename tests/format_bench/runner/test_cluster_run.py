"""Runs on a cluster: real schedulers and workers, which are killed, as are the clients."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.clusters.dispatching import Task
from format_bench.families.cases import Case
from format_bench.results import records
from format_bench.results.load import RESULTS, load
from format_bench.results.records import key
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.runner import folders
from format_bench.runner.cluster_run import expected, logged_seconds
from format_bench.runner.cluster_session import ClusterRun, MachineLedger
from format_bench.runner.recording import keys
from format_bench.runner.runner import Limits
from tests.factories import dask_processes, fake_package
from tests.factories.dask_processes import wait_for
from tests.factories.records import record
from tests.helpers import run

FORMATS = ("Good",)


class Cluster:
    """A scheduler, and workers that may use some CPUs only, so that their machines differ."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.environment = fake_package.install(folder / "installed")
        self.path = stack.enter_context(dask_processes.scheduler(folder))
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self._number = itertools.count()

    def start(self, cpus: str) -> psutil.Process:
        """Start a worker on some CPUs."""
        name = f"worker-{next(self._number)}"
        where = ("--scheduler-file", str(self.path), "--name", name, "--nthreads", "1")
        process = dask_processes.process(
            self.folder, "worker", *where, "--no-nanny", "--no-dashboard", **self.environment
        )
        started = self._stack.enter_context(process)
        os.sched_setaffinity(started.pid, set(map(int, cpus.split(","))))
        return psutil.Process(started.pid)

    def client(self, out: Path, *arguments: str) -> subprocess.Popen[str]:
        """Start a run on the cluster."""
        places = ("--cluster", str(self.path), "--out", str(out), "--scratch", str(self.scratch))
        what = ("--formats", ",".join(FORMATS), "--datasets", "float", "--rows", "100", "--repeats", "1")
        command = [sys.executable, "-m", "format_bench", "run", *places, *what, *arguments]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def log_of(out: Path) -> list[dict[str, object]]:
    path = out / folders.CLUSTER_LOG
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_measuring(worker: psutil.Process) -> bool:
    # The description of a machine has a process below the worker's, too, but none that is forked.
    with contextlib.suppress(psutil.Error):  # a process that has just ended
        return any("forkserver" in " ".join(each.cmdline()) for each in worker.children(recursive=True))
    return False


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU makes one kind of machine")
def test_a_killed_worker_and_a_killed_client_lose_and_double_nothing(tmp_path):
    out = tmp_path / "out"
    with ExitStack() as stack:
        cluster = Cluster(tmp_path, stack)
        small = cluster.start("0")
        cluster.start("0,1")
        first = cluster.client(out)
        try:
            wait_for(lambda: is_measuring(small))
        finally:
            small.kill()
        wait_for(lambda: any(each["outcome"] == "lost" for each in log_of(out)))
        first.kill()
        first.communicate()
        cluster.start("0")
        second = cluster.client(out)
        _, errors = second.communicate(timeout=600)
        assert second.returncode == 0, errors
    found = records.read(out / RESULTS)
    machines = {each.machine for each in found}
    assert len(machines) == 2
    steps = [s for s in FAMILIES["tables"].steps_of(SUITES["tabular"]) if s.cache != "cold"]
    wanted = {each for name in FORMATS for s in steps for each in keys(Case(name, "float", 100), s)}
    for machine in machines:
        results = load(f"{out}#{machine[:6]}")
        assert {key(each)[:-1] for each in results.records} == {each[:-1] for each in wanted}
        assert {each["machine"] for each in results.metadata} == {machine}
        assert None not in {each.value for each in results.records}
    # Each cell is on disk once: nothing was measured again, but for the cell of the dead worker.
    assert max(Counter(map(key, found)).values()) == 1
    with pytest.raises(InvalidResultsError, match="holds results of 2 machines, which do not compare"):
        load(out)
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.fixture
def of_two_machines(tmp_path):
    """Return a folder of results of two machines."""
    for machine, value in (("abc", 1.0), ("abd", 2.0)):
        records.append(tmp_path / RESULTS, record("CSV", "save time", value, machine=machine))
    (tmp_path / folders.CLUSTER_ID).write_text('{"run": "1"}')
    return tmp_path


def test_results_of_machines_that_differ_are_shown_one_at_a_time(of_two_machines):
    assert [each.value for each in load(f"{of_two_machines}#abd").records] == [2.0]
    for name, words in (("", "holds results of 2 machines"), ("#x", "no results of a machine x")):
        with pytest.raises(InvalidResultsError, match=words):
            load(f"{of_two_machines}{name}")
    done = run("report", of_two_machines)
    assert done.returncode == 2
    assert f"name one of {of_two_machines}#abc, {of_two_machines}#abd" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cluster", "local:0"), "write local:4"),
        (("--cluster", "local:1", "--data", "x.csv"), "workers generate their data"),
        (("--cluster", "local:1", "--time-budget", "1m"), "--time-budget with --cluster"),
        (("--cluster", "local:1", "--plan", "--fresh"), "a plan discards nothing"),
        (("--plan",), "--machines and --plan are about --cluster"),
        (("--formats", "CSV", "--rows", "10"), "it has results of a cluster"),
    ],
)
def test_what_a_cluster_does_not_offer_is_one_line(of_two_machines, arguments, words):
    done = run("run", *arguments, "--out", of_two_machines)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_plan_counts_what_is_left_and_how_long_it_took_before(tmp_path):
    cases = (Case("CSV", "eq", 10), Case("Feather", "eq", 10))
    run_of = ClusterRun("1", cases, Limits(rounds=2), frozenset({"save"}), tmp_path, None)
    path = tmp_path / folders.CLUSTER_LOG
    path.write_text(
        json.dumps({"outcome": "measured", "machine": "abc", "case": asdict(cases[0]), "seconds": 60.0})
        + '\n{"outcome": "meas'  # a client was killed here
    )
    ledger = MachineLedger("abc", cases, run_of.runner(), [])
    assert ledger.next_rounds() == {0: 1, 1: 1}
    assert expected(ledger, 2, logged_seconds(path), hosts=2) == (
        "4 cells left; 2 min of measuring, 60 s on 2 hosts; never measured here: 2 cells"
    )
    for empty in ledger.failed(Task("abc", 1, 0), "no worker finished it", "run-1"):
        assert ledger.add(empty)
        assert not ledger.add(empty)
    assert ledger.next_rounds() == {1: 1}
