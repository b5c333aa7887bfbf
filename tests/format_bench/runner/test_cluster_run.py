"""Runs on a cluster: real schedulers and workers, which are killed, as are the clients."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from distributed import Client, LocalCluster

from adapter_core.errors import ClusterError, InvalidDataError, InvalidResultsError, UserDataError
from format_bench import conditions
from format_bench.clusters.dispatching import Task, Worker
from format_bench.families.cases import Case
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.machine import sources_digest
from format_bench.results import records
from format_bench.results.conditions import Conditions
from format_bench.results.load import RESULTS, load
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record, key
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.runner import cell_process, cluster_run, cluster_session, folders, time_budget
from format_bench.runner.cell_process import CellRequest, HostDescription, SharedData, WorkerSetup
from format_bench.runner.cluster_ledger import ClusterRun, MachineLedger, measured_seconds
from format_bench.runner.cluster_session import ClusterSession
from format_bench.runner.plan import RunRequest
from format_bench.runner.runner import Limits
from format_bench.runner.user_data import Source
from tests.commands import run
from tests.factories import dask_processes, fake_package
from tests.factories.dask_processes import wait_for
from tests.factories.records import record

FORMATS = ("Good", "Large")

# Of a scratch folder: enough to start, too little for a file of the format Large.
SMALL_DISK_BYTES = 260_000_000


class Cluster:
    """A scheduler, and workers that may use some CPUs only, so that their machines differ."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.environment = fake_package.install(folder / "installed")
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self._started = 0
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """Start the scheduler, anew if it was killed."""
        process = dask_processes.scheduler_process(self.folder)
        self.scheduler, self.path = self._stack.enter_context(process)

    def start(self, cpus: str, prefix: Sequence[str] = ()) -> psutil.Process:
        """Start a worker on some CPUs, by a program that becomes it."""
        where = ("--scheduler-file", str(self.path), "--name", f"worker-{self._started}")
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        self._started += 1
        process = dask_processes.process(
            self.folder, "worker", *where, *options, prefix=prefix, **self.environment
        )
        started = self._stack.enter_context(process)
        os.sched_setaffinity(started.pid, set(map(int, cpus.split(","))))
        return psutil.Process(started.pid)

    def start_with_small_disk(self, cpus: str) -> psutil.Process:
        """Start a worker with a small file system as scratch folder, or with a limit of files' sizes."""
        if os.geteuid() == 0:
            mount = f"mount -t tmpfs -o size={SMALL_DISK_BYTES} tmpfs {self.scratch}"
            return self.start(cpus, ("unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"))
        return self.start(cpus, ("prlimit", f"--fsize={SMALL_DISK_BYTES}"))

    def client(self, out: Path, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a run on the cluster, when all workers have joined it."""
        log = self.folder / "worker.log"
        wait_for(lambda: log.read_text().count("Registered to") == self._started)
        return self.run(out, "--cluster", self.path, *arguments)

    def run(self, out: Path, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a run."""
        command = (sys.executable, "-m", "format_bench", "run", "--out", out, "--repeats", "1")
        return subprocess.Popen(
            [*command, *arguments],
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
def test_killed_workers_and_clients_and_a_full_disk_lose_double_and_leave_nothing(tmp_path):
    out = tmp_path / "out"
    with ExitStack() as stack:
        cluster = Cluster(tmp_path, stack)
        what = ("--formats", ",".join(FORMATS), "--datasets", "float", "--rows", "100")
        where = ("--scratch", cluster.scratch)
        killed = cluster.start("0,1")
        full = cluster.start_with_small_disk("0")
        first = cluster.client(out, *what, *where)
        try:
            wait_for(lambda: is_measuring(killed))
        finally:
            killed.kill()
        wait_for(lambda: any(each["outcome"] == "lost" for each in log_of(out)))
        first.kill()
        first.communicate()
        cluster.start("0,1")
        second = cluster.client(out, *what, *where)
        _, errors = second.communicate(timeout=600)
        assert second.returncode == 0, errors
        # As the worker sees it.
        left = list(Path(f"/proc/{full.pid}/root{cluster.scratch}").iterdir())
        alone = cluster.run(tmp_path / "alone", *what, *where)
        _, errors = alone.communicate(timeout=600)
        assert alone.returncode == 0, errors
    assert left == []
    assert list((tmp_path / "scratch").iterdir()) == []
    found = records.read(out / RESULTS)
    # Each cell is on disk once: nothing was measured again, but for the cell of the dead worker. For
    # want of space a cell fails once for each client.
    whole = [each for each in found if not is_of_surroundings(each.status, each.sentence)]
    assert max(Counter(map(key, whole)).values()) == 1
    on_machines = {each.machine: load(f"{out}#{each.machine[:6]}") for each in found}
    assert [{each["machine"] for each in on_machines[m].metadata} for m in on_machines] == [
        {machine} for machine in on_machines
    ]
    expected_facts = facts_of(records.read(tmp_path / "alone" / RESULTS))
    large, small = sorted(on_machines.values(), key=lambda each: -each.metadata[0]["cpu"]["usable"])
    assert facts_of(large.records) == expected_facts
    # Of the format that needs more than the disk has, each cell has the reason.
    failed = [each for each in small.records if each.format == "Large"]
    assert {each.status for each in failed} == {CellStatus.FAILED}
    assert all(re.search("No space left|File too large", each.sentence) for each in failed)
    good = {name: fact for name, fact in expected_facts.items() if "Good" in name}
    assert {n: f for n, f in facts_of(small.records).items() if "Good" in n} == good
    assert facts_of(small.records).keys() == expected_facts.keys()
    with pytest.raises(
        InvalidResultsError, match="contains results of 2 machines, which do not compare"
    ):
        load(out)


def facts_of(found: Iterable[Record]) -> dict[tuple[object, ...], tuple[object, ...]]:
    """Return status and sentence of each cell, and the value of those that chance does not change."""
    exact = {name for name, metric in METRICS.items() if metric.noise in {"size", "exact"}}
    return {
        key(replace(each, machine="")): (
            each.status,
            each.sentence,
            each.unit,
            each.rounds,
            each.value if each.metric in exact else each.value is None,
        )
        for each in found
    }


@pytest.mark.slow
def test_a_killed_scheduler_ends_the_run_with_a_line_and_the_same_command_resumes(tmp_path):
    out, data = tmp_path / "out", tmp_path / "own.csv"
    data.write_text("a,b\n" + "1,2.5\n" * 100)
    with ExitStack() as stack:
        cluster = Cluster(tmp_path, stack)
        # On a cluster, the user's data and several media are read and probed by the workers.
        what = ["--formats", "Good", "--data", data.name, "--steps", "save"]
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            what += ["--scratch", f"{name}={tmp_path / name}"]
        cluster.start("0")
        first = cluster.client(out, *what)
        wait_for(lambda: (out / RESULTS).exists() and bool(records.read(out / RESULTS)))
        cluster.scheduler.kill()
        _, errors = first.communicate(timeout=600)
        assert first.returncode == 2
        *progress, kept, error = errors.splitlines()
        assert error == "format-bench: the scheduler was lost; start it and the workers again"
        assert kept == f"results so far are in {out / RESULTS}; the same command resumes"
        assert "Traceback" not in "".join(progress)
        before = records.read(out / RESULTS)
        assert {each.medium for each in before} == {"one"}
        cluster.start_scheduler()
        cluster.start("0")
        second = cluster.client(out, *what)
        _, errors = second.communicate(timeout=600)
        assert second.returncode == 0, errors
        assert [list((tmp_path / name).iterdir()) for name in ("one", "two")] == [[], []]
    found = records.read(out / RESULTS)
    assert found[: len(before)] == before
    assert {(each.dataset, each.rows, each.medium) for each in found} == {
        ("own", 100, "one"),
        ("own", 100, "two"),
    }
    assert max(Counter(map(key, found)).values()) == 1
    assert None not in {each.value for each in found}
    assert load(out).metadata[0]["media"].keys() == {"one", "two"}


def test_a_worker_whose_data_or_medium_differ_has_a_reason(tmp_path):
    path = tmp_path / "own.csv"
    data = WorkerSetup(user_data=SharedData(Source(str(path)), "0" * 32, "0" * 32))
    with pytest.raises(InvalidDataError, match="there is no such file"):
        cell_process.describe(data)
    path.write_text("a\n1\n")
    with pytest.raises(ClusterError, match=r"own\.csv: its content there differs from the one here"):
        cell_process.describe(data)


def test_own_data_are_read_for_the_suite_here_and_on_workers(tmp_path, monkeypatch):
    suites = []

    def read(*_, suite=None, **__):
        suites.append(suite)
        raise UserDataError("there is no more to see")

    for module in (cluster_run, cell_process):
        monkeypatch.setattr(module, "prepare", read)
    request = RunRequest(suite="training", user_data=(Source("photos"),))
    with pytest.raises(UserDataError):
        cluster_run._own(request)
    shared = SharedData(request.user_data[0], "0" * 32, "0" * 32)
    case = Case("Feather[loop]", "photos", 10, suite="training")
    with pytest.raises(UserDataError):
        cell_process._read(shared, case, tmp_path)
    assert suites == ["training", "training"]


def test_each_library_set_has_generated_data_of_its_own_on_a_worker(tmp_path, monkeypatch):
    made = []

    def interpreter_of(case):
        return case.conditions.get("library set", "")

    def make(_, case, path, *, interpreter, **__):
        made.append(interpreter)
        path.write_text(interpreter)
        return Outcome((case.rows, 2))

    monkeypatch.setattr(conditions, "data_interpreter_of", interpreter_of)
    monkeypatch.setattr(isolation, "run", make)

    def data_of(python, label="CSV"):
        case = Case(label, "eq", 10, Conditions({"library set": python}))
        asked = CellRequest(case, 1, Limits(), frozenset(), (), "run-1", WorkerSetup(), "run")
        return cell_process._stored(asked, tmp_path).value[0].read_text()

    for python in ("old/bin/python", "new/bin/python"):
        assert data_of(python) == data_of(python, "Pickle") == python
    assert made == ["old/bin/python", "new/bin/python"]


@pytest.fixture
def of_two_machines(tmp_path):
    """Return a folder of results of two machines."""
    for machine, value in (("abc", 1.0), ("abd", 2.0)):
        records.append(tmp_path / RESULTS, record("CSV", "save time", value, machine=machine))
    (tmp_path / folders.CLUSTER_ID).write_text('{"run": "1"}')
    return tmp_path


def test_results_of_machines_that_differ_are_shown_one_at_a_time(of_two_machines):
    assert [each.value for each in load(f"{of_two_machines}#abd").records] == [2.0]
    for name, words in (("", "contains results of 2 machines"), ("#x", "no results of a machine x")):
        with pytest.raises(InvalidResultsError, match=words):
            load(f"{of_two_machines}{name}")
    done = run("report", of_two_machines)
    assert done.returncode == 2
    assert f"name one of {of_two_machines}#abc, {of_two_machines}#abd" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cluster", "local:0"), "write local:4"),
        (("--cluster", "local:1", "--data", "x.csv"), "x.csv: there is no such file"),
        (
            ("--cluster", "local:1", "--scratch", "a=/tmp", "--scratch", "/b"),
            "/b: on a cluster, name it",
        ),
        (("--cluster", "local:1", "--plan", "--fresh"), "a plan discards nothing"),
        (("--plan",), "--machines and --plan need --cluster"),
        (("--formats", "CSV", "--rows", "10"), "it has results of a cluster"),
    ],
)
def test_what_a_cluster_does_not_offer_is_one_line(of_two_machines, arguments, words):
    done = run("run", *arguments, "--out", of_two_machines)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def client_without_workers():
    """Return a client of a scheduler that nobody has joined."""
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def session_with_idle_worker(client: Client, out: Path, limits: Limits) -> ClusterSession:
    """Return a session whose only cell is of a machine without workers; another machine has one."""
    run_of = ClusterRun("1", (Case("CSV", "eq", 10),), limits, frozenset({"save"}), out)
    session = ClusterSession(client, run_of, lambda _: None, lambda _: None)
    session.ledgers["abc"] = MachineLedger("abc", run_of, [], "run-1")
    session.dispatcher.ready.update(abc=[Task("abc", 1, 0)], abd=[])
    session.dispatcher.join(Worker("one", "host", "abd"))
    return session


def test_a_run_ends_if_one_kind_of_machine_has_lost_its_workers(
    client_without_workers, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster_session, "NO_WORKER_SECONDS", 0.0)
    session = session_with_idle_worker(client_without_workers, tmp_path, Limits())
    with pytest.raises(ClusterError, match=r"^no worker is left for machine abc$"):
        session.measure()


def test_a_run_whose_time_is_spent_leaves_its_cells(client_without_workers, tmp_path):
    limits = Limits(time_budget_seconds=0.0)
    session = session_with_idle_worker(client_without_workers, tmp_path, limits)
    session.measure()
    assert session.ledgers["abc"].next_rounds() == {0: 1}
    session.dispatcher.join(Worker("two", "other host", "abc"))
    assert session.dispatcher.assignments() == []


HELD = threading.Event()


def measured(found: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return records, as a worker that has measured them."""
    return found


def measured_late(found: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return records when `HELD` is set."""
    HELD.wait()
    return found


def test_a_plan_counts_results_that_workers_keep_and_the_next_run_records_them(tmp_path, monkeypatch):
    cases = tuple(Case("CSV", name, 10) for name in ("eq", "float"))
    run_of = ClusterRun("1", cases, Limits(), frozenset({"save"}), tmp_path)
    metadata = {
        "cpu": {"model": "C", "usable": 1},
        "memory": {"total_bytes": 1},
        "system": {"kernel": "1"},
        "load_average": {},
    }
    facts = HostDescription("host", "abc", sources_digest(), metadata, tmp_path, ())
    done = list(MachineLedger("abc", run_of, [], "run-1").failed(Task("abc", 1, 0), "it failed"))
    monkeypatch.setattr(cell_process, "measure_on_worker", None)  # nothing may be measured again
    # By TCP, since what passes within a process keeps the futures of the client that was killed.
    where = {"processes": False, "protocol": "tcp", "host": "127.0.0.1"}
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", **where
    ) as cluster:
        (address,) = [worker.address for worker in cluster.workers.values()]
        with Client(cluster, set_as_default=False) as killed:
            session = ClusterSession(killed, run_of, lambda _: None, lambda _: None)
            session.workers[address] = Worker(address, "host", "abc"), facts
            session.machines["abc"] = facts
            for number, function in enumerate((measured, measured_late)):
                found = tuple(replace(each, dataset=cases[number].dataset) for each in done)
                future = session._submit(address, Task("abc", 1, number), function, found)
                killed.publish_dataset((facts, address, cases[number], 1, future), name=future.key)
        with Client(cluster, set_as_default=False) as client:
            wait_for(lambda: len(client.processing()[address]) == 1)
            planned = ClusterSession(client, run_of, lambda _: None, lambda _: None)
            planned.describe_all()
            assert planned.ledgers["abc"].next_rounds() == {1: 1}
            assert not (tmp_path / RESULTS).exists()
            HELD.set()
            session = ClusterSession(client, run_of, lambda _: None, lambda _: None)
            session.measure()
            assert session.ledgers["abc"].next_rounds() == {}
            assert client.list_datasets() == ()
    found = records.read(tmp_path / RESULTS)
    assert max(Counter(map(key, found)).values()) == 1
    assert {each.dataset for each in found} == {"eq", "float"}
    assert {each.machine for each in found} == {"abc"}


def test_a_time_budget_is_shared_by_the_hosts():
    limits = Limits(budget_seconds=6.0, time_budget_seconds=60.0)
    assert time_budget.shared(limits, cases=10, steps=4, hosts=1).budget_seconds == 1.5
    assert time_budget.shared(limits, cases=10, steps=4, hosts=8).budget_seconds == 6.0
    one, many = (time_budget.sample_limits(60.0, 100, hosts).step_seconds for hosts in (1, 50))
    assert (one, many) == (pytest.approx(0.6), pytest.approx(10.0))
    small, large = Case("CSV", "eq", 499), Case("CSV", "eq", 500)
    assert time_budget.sampled([large]) == (Case("CSV", "eq", 20),)
    assert time_budget.sampled([large, small]) == ()


def test_the_plan_counts_what_is_left_and_how_long_it_took_before(tmp_path):
    cases = (Case("CSV", "eq", 10), Case("Feather", "eq", 10))
    run_of = ClusterRun("1", cases, Limits(rounds=2), frozenset({"save"}), tmp_path)
    path = tmp_path / folders.CLUSTER_LOG
    # As an earlier version wrote it; a client was killed in its second line.
    path.write_text(
        '{"ended": "2026-11-23T17:43:00+00:00", "outcome": "measured", "seconds": 60.0, "machine": '
        '"abc", "host": "h", "worker": "tcp://127.0.0.1:35465", "round": 1, "case": {"format": "CSV", '
        '"dataset": "eq", "rows": 10, "threads": "all", "codec": null, "level": null, "suite": '
        '"tabular", "track": "", "medium": ""}, "reason": ""}\n{"outcome": "meas'
    )
    ledger = MachineLedger("abc", run_of, [], "run-1")
    assert ledger.next_rounds() == {0: 1, 1: 1}
    assert ledger.expected(measured_seconds(path), hosts=2) == (
        "4 cells left; 2 min of measuring, 60 s on 2 hosts; never measured here: 2 cells"
    )
    for empty in list(ledger.failed(Task("abc", 1, 0), "no worker finished it")):
        assert ledger.add(empty)
        assert not ledger.add(empty)
    assert ledger.next_rounds() == {1: 1}
