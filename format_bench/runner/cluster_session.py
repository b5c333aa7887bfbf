"""Session of a run on a cluster: cells go to workers, records come back as they are made.

`format_bench.clusters.dispatching` decides which worker measures which cell; this session makes tasks of
Dask of its decisions, and events for it of their ends. Records are appended to the results here, by the
client, each with the fingerprint of the machine that measured it.

Each cell is published, in Dask's word: the scheduler keeps it, and its worker the result, also when the
client dies. The next client of the same run takes it over.
"""

from __future__ import annotations

import hashlib
import queue
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError, FormatBenchError
from format_bench.clusters.connection import SCHEDULER_LOST
from format_bench.clusters.dispatching import Dispatcher, Task, Worker
from format_bench.metadata import run_metadata
from format_bench.metadata.machine import described, sources_digest
from format_bench.results import records
from format_bench.results.display.text import plural
from format_bench.results.load import RESULTS
from format_bench.results.records import Record
from format_bench.runner import cell_process
from format_bench.runner.cell_process import CellRequest, HostDescription
from format_bench.runner.cluster_ledger import (
    COLLECTED,
    FAILED,
    LOST,
    MEASURED,
    ClusterRun,
    MachineLedger,
)
from format_bench.runner.executor import TimeBudget
from format_bench.runner.result_store import new_run_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from distributed import Client, Future

    from format_bench.families.cases import Case

# Time between two looks at the list of workers. A worker that dies is noticed by then, and costs its
# cell minutes.
POLL_SECONDS = 1.0

# Time without any worker for the cells that are left, after which a run ends. A cluster's own manager
# needs about as long to start a machine anew.
NO_WORKER_SECONDS = 300.0

# Time within which a worker hands over a result that it has. Records are a few kilobytes: longer means
# that the worker has gone.
ANSWER_SECONDS = 60.0

# A reason is a part of one line on the terminal, and of a record.
REASON_LENGTH = 300


@dataclass(frozen=True)
class _Job:
    """Task of a worker for this client."""

    future: Future
    task: Task | None = None
    """None while it describes its machine."""
    outcome: str = MEASURED
    """Its outcome in the log, if it succeeds."""
    started: float = field(default_factory=time.monotonic)


class ClusterSession:
    """Measures the cells of a run on a cluster.

    Parameters
    ----------
    client : distributed.Client
        A connection, e.g. of `format_bench.clusters.connection.connect`.
    run : ClusterRun
        The run. Its folder must not be written to by another one.
    say : callable
        Called with lines on the progress.
    on_record : callable
        Called with each record when it is on disk.
    """

    def __init__(
        self,
        client: Client,
        run: ClusterRun,
        say: Callable[[str], None],
        on_record: Callable[[Record], None],
    ) -> None:
        self.run = run
        self.dispatcher = Dispatcher(self._next_rounds)
        self.ledgers: dict[str, MachineLedger] = {}
        """Records of each kind of machine, by fingerprint."""
        self.workers: dict[str, tuple[Worker, HostDescription]] = {}
        """Workers that take part, by address."""
        self.left_out: dict[str, str] = {}
        """Reasons of the other workers, by address."""
        self.machines: dict[str, HostDescription] = {}
        """A description of each kind of machine, by fingerprint."""
        self._client, self._say, self._on_record = client, say, on_record
        self._id = new_run_id()
        setup = hashlib.sha256(repr((run.setup, sources_digest())).encode()).hexdigest()
        self._prefix = f"format-bench-{run.id}-{setup}-"
        """Start of the keys of the run's tasks, under which its cells are published."""
        self._jobs: dict[str, _Job] = {}
        """Task of each worker, by address."""
        # Futures end in threads of Dask; what follows is done in the thread of `measure`.
        self._ends: queue.SimpleQueue[tuple[str, Future]] = queue.SimpleQueue()
        self._budget = TimeBudget(run.limits.time_budget_seconds)
        self._is_plan = False
        """Leave the folder, and the cells that Dask keeps, as they are."""
        path = run.out / RESULTS
        self._found = records.read(path) if path.exists() else []

    @property
    def records(self) -> list[Record]:
        """The last record of each cell, with its machine."""
        return [
            replace(record, machine=machine)
            for machine, ledger in self.ledgers.items()
            for record in ledger.records
        ]

    @property
    def hosts(self) -> int:
        """Number of the addresses from which workers are connected now, described or not."""
        return len({worker["host"] for worker in self._connected().values()})

    def of(self, run: ClusterRun) -> ClusterSession:
        """Return a session of another run on the same cluster."""
        return ClusterSession(self._client, run, self._say, self._on_record)

    def describe_all(self) -> None:
        """Wait until all workers of now are described; assign, record and discard nothing."""
        self._is_plan = True
        self._take_over()
        while self._compare_workers():
            self._handle_ends()

    def measure(self) -> None:
        """Measure all that is missing, on machines of each kind, as far as the time budget allows.

        Raises
        ------
        ClusterError
            If no worker is left for some cells, or the scheduler is lost. Records made so far are on
            disk.
        """
        self._budget = TimeBudget(self.run.limits.time_budget_seconds)
        self._take_over()
        last_progress = time.monotonic()
        while True:
            self.dispatcher.is_stopped = self._budget.is_spent()
            is_describing = self._compare_workers()
            for worker, task in self.dispatcher.assignments():
                self._assign(worker, task)
            if not is_describing and self.ledgers and self.dispatcher.is_done:
                break
            if self._jobs:
                last_progress = time.monotonic()
            # Workers are connected, and all of them are left out; or none has come.
            elif (self.left_out and not self.workers) or (
                time.monotonic() - last_progress > NO_WORKER_SECONDS
            ):
                raise ClusterError(self._without_workers())
            self._handle_ends()
        for machine, description in self.machines.items():
            if self._metadata_path(machine).exists():
                ended = run_metadata.finish(description.metadata, is_here=False)
                self._write_metadata(machine, ended)
        self._ask(self._client.run, cell_process.release_worker, self._prefix, on_error="ignore")

    def _without_workers(self) -> str:
        """Return the sentence on cells that no worker takes."""
        machines = ", ".join(self.dispatcher.waiting_machines)
        reasons = "; ".join(f"{each}: {why}" for each, why in self.left_out.items())
        return f"no worker is left{machines and f' for machine {machines}'}{reasons and f': {reasons}'}"

    def _ask(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function that asks the scheduler; its loss is a `ClusterError`."""
        try:
            return function(*arguments, **options)
        except OSError as error:
            raise ClusterError(SCHEDULER_LOST) from error

    def _connected(self) -> dict[str, Any]:
        """Return the scheduler's facts of its workers, by address."""
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        # Without a scheduler it was the last list that the client had.
        self._check_scheduler()
        return found

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise ClusterError(SCHEDULER_LOST)

    # Workers

    def _compare_workers(self) -> bool:
        """Let new workers of the scheduler's be described, and forget lost ones.

        Return whether some are being described.
        """
        connected = self._connected().keys()
        self.left_out = {each: why for each, why in self.left_out.items() if each in connected}
        for address in (self.workers.keys() | self._jobs.keys()) - connected:
            self._lose(address)
        for address in connected - self.workers.keys() - self._jobs.keys() - self.left_out.keys():
            self._submit(address, None, cell_process.call, cell_process.describe, self.run.setup)
        return any(job.task is None for job in self._jobs.values())

    def _add(self, address: str, description: HostDescription) -> Worker | None:
        """Take in a worker that has been described; return None if it is left out."""
        mark, wanted = description.fingerprint, self.run.machines
        if description.sources != sources_digest():
            reason = "its FormatBench differs from this one; install the same version everywhere"
            self._leave_out(address, reason)
            return None
        if wanted and not mark.startswith(wanted):
            self._leave_out(address, f"its machine, {mark}, is not among --machines")
            return None
        self.machines.setdefault(mark, description)
        worker = Worker(address, description.host, mark)
        self.workers[address] = worker, description
        return worker

    def _leave_out(self, address: str, reason: str) -> None:
        self.left_out[address] = reason
        self._say(f"left out: {address}: {reason}")

    def _lose(self, address: str, reason: str = "") -> None:
        """Forget a worker: one that was lost may come back, one that fails for a reason may not."""
        worker, _ = self.workers.pop(address, (None, None))
        job = self._jobs.pop(address, None)
        if job is not None and not reason:
            job.future.cancel()
        if worker is None:
            if reason:
                self._leave_out(address, reason)
            return
        words = f"{worker.name} gets no more cells: {reason}" if reason else f"{worker.name} was lost"
        if reason:
            self.left_out[address] = reason
        if job is not None and job.task is not None:
            words += "" if reason else f" while it measured {self._name(job.task)}"
            self._close(worker, job, job.task, FAILED if reason else LOST, reason)
        self._say(words)
        if abandoned := self.dispatcher.leave(worker, f"failed: {reason}" if reason else "was lost"):
            self._say(f"{self._name(abandoned.task)} failed: {abandoned.sentence}")
            ledger = self.ledgers[abandoned.task.machine]
            self._keep(ledger, list(ledger.failed(abandoned.task, abandoned.sentence)))

    def _next_rounds(self, machine: str) -> dict[int, int]:
        """Return the next round of the cases left on a kind of machine, and report their number."""
        found = self._ledger(machine).next_rounds()
        words = described(self.machines[machine].metadata)
        cases = f"{len(found)} of {plural(len(self.run.cases), 'case')}"
        self._say(f"machine {machine}: {words}; {cases} of {self.run.scale} left")
        return found

    # Cells

    def _take_over(self) -> None:
        """Take over the cells of an earlier client: keep results, and adopt those still measured.

        Results come first, since the list of missing cells is made when a worker joins.
        """
        busy = self._ask(self._client.processing)
        still = {key for keys in busy.values() for key in keys}
        running = []
        for worker, case, number, future in self._published():
            if future.key in still:
                running.append((worker, case, number, future))
            else:
                self._keep(self._ledger(worker.machine), _result(future))
                self._withdraw(future)
        for worker, case, number, future in running:
            if worker in self.dispatcher.running:
                # It waits behind a cell of yet another client, which the worker measures now.
                self._withdraw(future, is_cancelled=True)
            elif case in self.run.cases:
                task = Task(worker.machine, number, self.run.cases.index(case))
                self.dispatcher.join(worker, task)
                self._follow(worker.name, _Job(future, task, COLLECTED))
        for worker, _ in self.workers.values():
            if worker not in self.dispatcher.running:
                self.dispatcher.join(worker)

    def _published(self) -> Iterator[tuple[Worker, Case, int, Future]]:
        """Yield the cells that are kept for this run, by worker, case, round and future."""
        connected = self._connected()
        for name in self._ask(self._client.list_datasets):
            if str(name).startswith(self._prefix):
                description, address, case, number, future = self._ask(self._client.get_dataset, name)
                if address not in connected:
                    self._withdraw(future)
                elif worker := self._add(address, description):
                    yield worker, case, number, future

    def _withdraw(self, cell: Future, *, is_cancelled: bool = False) -> None:
        """Let Dask forget a cell."""
        if self._is_plan:
            return
        if is_cancelled:
            cell.cancel()
        self._ask(self._client.unpublish_dataset, cell.key)

    def _ledger(self, machine: str) -> MachineLedger:
        """Return the ledger of a kind of machine, made if missing."""
        if machine not in self.ledgers:
            self.ledgers[machine] = MachineLedger(machine, self.run, self._found, self._run_id(machine))
        return self.ledgers[machine]

    def _assign(self, worker: Worker, task: Task) -> None:
        _, description = self.workers[worker.name]
        if not self._metadata_path(task.machine).exists():
            self._write_metadata(task.machine, self.machines[task.machine].metadata)
        case = self.run.cases[task.case]
        request = CellRequest(
            case=case,
            number=task.number,
            limits=replace(self.run.limits, time_budget_seconds=self._budget.left_seconds),
            steps=self.run.steps,
            earlier=self.ledgers[task.machine].earlier(task.case),
            run_id=self._run_id(task.machine),
            setup=self.run.setup,
            run=self._prefix,
        )
        function = cell_process.measure_on_worker
        future = self._submit(worker.name, task, function, request, description)
        kept = description, worker.name, case, task.number, future
        self._ask(self._client.publish_dataset, kept, name=future.key)

    def _submit(
        self, address: str, task: Task | None, function: Callable[..., Any], *arguments: Any
    ) -> Future:
        where = {"workers": [address], "key": f"{self._prefix}{secrets.token_hex(6)}"}
        future = self._client.submit(function, *arguments, **where, pure=False, retries=0)
        self._follow(address, _Job(future, task))
        return future

    def _follow(self, address: str, job: _Job) -> None:
        self._jobs[address] = job
        job.future.add_done_callback(lambda done: self._ends.put((address, done)))

    def _handle_ends(self) -> None:
        """Handle the ends of a moment; wait for the first one."""
        try:
            self._ended(*self._ends.get(timeout=POLL_SECONDS))
            while True:
                self._ended(*self._ends.get_nowait())
        except queue.Empty:
            return

    def _ended(self, address: str, future: Future) -> None:
        from distributed import KilledWorker

        job = self._jobs.get(address)
        if job is None or job.future is not future:
            return  # the worker was lost before
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            # It was started anew at the same address, so it never left the list of workers.
            self._lose(address)
        elif error is not None:
            self._lose(address, _in_line(error))
        else:
            try:
                found = future.result(timeout=ANSWER_SECONDS)
            except Exception:
                # A lost scheduler cancels all futures, but kills no worker.
                self._check_scheduler()
                # The worker died between the end of its work and the transfer of the result.
                self._lose(address)
            else:
                self._succeeded(address, self._jobs.pop(address), found)

    def _succeeded(self, address: str, job: _Job, found: Any) -> None:
        if job.task is None:
            if worker := self._add(address, found):
                self.dispatcher.join(worker)
            return
        worker, task = self.workers[address][0], job.task
        ledger = self._ledger(task.machine)
        self._keep(ledger, found)
        seconds = self._close(worker, job, task, job.outcome)
        self._say(f"{self._name(task)}: {seconds:.0f} s on {worker.name}")
        following = ledger.next_round(task.case)
        # The end of a time budget may leave a part of a round, for a later run.
        is_left = following is not None and following <= task.number
        self.dispatcher.finish(worker, task, None if is_left else following)

    def _keep(self, ledger: MachineLedger, found: Iterable[Record]) -> None:
        """Append records that are not on disk yet."""
        stored = [replace(each, machine=ledger.fingerprint) for each in found if ledger.add(each)]
        if stored and not self._is_plan:
            records.append(self.run.out / RESULTS, *stored)
            for each in stored:
                self._on_record(each)

    def _close(self, worker: Worker, job: _Job, task: Task, outcome: str, reason: str = "") -> float:
        """Append the end of a cell to the log, and let Dask forget it; return the seconds it took."""
        seconds = time.monotonic() - job.started
        self.run.log(worker, task, outcome, seconds=seconds, reason=reason)
        self._withdraw(job.future)
        return seconds

    def _run_id(self, machine: str) -> str:
        return f"{self._id}-{machine}"

    def _metadata_path(self, machine: str) -> Path:
        return self.run.out / f"{self._run_id(machine)}-threads-{self.run.setup.threads}.json"

    def _write_metadata(self, machine: str, metadata: dict[str, Any]) -> None:
        facts = {**metadata, "scale": self.run.scale}
        if asked := {each.dataset: found for each in self.run.cases if (found := each.asked_facts)}:
            facts["data"] = asked
        run_metadata.write(facts, self._metadata_path(machine))

    def _name(self, task: Task) -> str:
        case = self.run.cases[task.case]
        codec = case.codec if case.level is None else f"{case.codec}:{case.level}"
        words = " ".join(filter(None, (case.format, codec, case.track)))
        return f"{words} on {case.place}, round {task.number} on machine {task.machine}"


def _result(future: Future) -> tuple[Record, ...]:
    """Return the records of a cell that has ended; none if it could not be measured."""
    try:
        found: tuple[Record, ...] = future.result(timeout=ANSWER_SECONDS)
    except Exception:
        return ()
    return found


def _in_line(error: BaseException) -> str:
    text = str(error) if isinstance(error, FormatBenchError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:REASON_LENGTH]
