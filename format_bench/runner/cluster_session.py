"""Session of a run on a cluster: cells go to workers, records come back as they are made.

`format_bench.clusters.dispatching` decides which worker measures what; this session turns its decisions
into tasks of Dask, and their ends into its events. Records are appended to the results here, by the
client, each with the fingerprint of the machine that measured it.
"""

from __future__ import annotations

import math
import queue
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError
from format_bench.clusters.dispatching import Abandonment, Assignment, Decision, Dispatcher, Task, Worker
from format_bench.display.text import plural
from format_bench.metadata import run_metadata
from format_bench.metadata.fingerprint import described
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.runner import cluster_log, cluster_worker, folders
from format_bench.runner.cell_process import CellRequest
from format_bench.runner.cluster_ledger import ClusterRun, MachineLedger
from format_bench.runner.cluster_roster import ANSWER_SECONDS, Roster, reason_of

if TYPE_CHECKING:
    from distributed import Client, Future

    from format_bench.results.records import Record
    from format_bench.runner.cluster_worker import KeptCell, WorkerStatus

POLL_SECONDS = 1.0
"""Time between two looks at the list of workers."""

NO_WORKER_SECONDS = 300.0
"""Time without any worker for the cells that are left, after which a run ends."""


@dataclass(frozen=True)
class _Submission:
    """A cell that a worker was given."""

    future: Future
    started: float
    is_adopted: bool
    """It was started for an earlier client, so that its duration is not known."""


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
        self.dispatcher = Dispatcher()
        self.roster = Roster(client, run)
        self.ledgers: dict[str, MachineLedger] = {}
        """Records of each kind of machine, by fingerprint."""
        self._client, self._say, self._on_record = client, say, on_record
        self._id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        # Futures end in threads of Dask; what follows is done in the thread of `measure`.
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._submissions: dict[Worker, _Submission] = {}
        self._with_metadata: set[str] = set()
        """Fingerprints whose metadata are beside the results."""
        self._end = math.inf
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

    def of(self, run: ClusterRun) -> ClusterSession:
        """Return a session of another run on the same cluster."""
        return ClusterSession(self._client, run, self._say, self._on_record)

    def describe_all(self) -> None:
        """Wait until all workers of now are described; assign and record nothing."""
        for worker, status in self._recall().items():
            for record in _kept(status):
                self._ledger(worker.machine).add(record)
        for machine in self.roster.descriptions:
            self._open(machine)
        self._look_at_workers(lambda _: None)
        while not self.roster.is_complete:
            self._handle_events()
            self._look_at_workers(lambda _: None)

    def measure(self) -> None:
        """Measure all that is missing, on machines of each kind, as far as the time budget allows.

        Raises
        ------
        ClusterError
            If no worker is left for some cells, or the scheduler is lost. Records made so far are on
            disk.
        """
        self._end = time.monotonic() + self.run.limits.time_budget_seconds
        self._resume()
        last_progress = time.monotonic()
        while True:
            if time.monotonic() >= self._end:
                self.dispatcher.stop()
            self._look_at_workers(lambda worker: self._act(self.dispatcher.join(worker)))
            if self.roster.is_complete and self.ledgers and self.dispatcher.is_done:
                break
            if self.dispatcher.running or not self.roster.is_complete:
                last_progress = time.monotonic()
            elif self._is_hopeless or time.monotonic() - last_progress > NO_WORKER_SECONDS:
                raise ClusterError(self._without_workers())
            self._handle_events()
        for machine in self._with_metadata:
            metadata = self.roster.descriptions[machine].metadata
            self._write_metadata(machine, run_metadata.finish(metadata, is_here=False))
        self.roster.ask(cluster_worker.release, self.run.id)

    def _without_workers(self) -> str:
        """Return the sentence on cells that no worker takes."""
        machines = ", ".join(self.dispatcher.waiting_machines)
        reasons = "; ".join(f"{each}: {why}" for each, why in self.roster.left_out.items())
        return f"no worker is left{machines and f' for machine {machines}'}{reasons and f': {reasons}'}"

    @property
    def _is_hopeless(self) -> bool:
        """True if workers are connected, and all of them are left out."""
        return bool(self.roster.left_out) and not self.roster.workers

    def _resume(self) -> None:
        """Take over the workers of an earlier client; those that still measure come first.

        Otherwise an idle one would get the same cell.
        """
        recalled = self._recall()
        # Before any list of missing cells is made.
        for worker, status in recalled.items():
            self._keep(self._ledger(worker.machine), _kept(status))
        idle = []
        for worker, status in recalled.items():
            self._open(worker.machine)
            task = self._task_of(worker.machine, status.running)
            if task is None:
                idle.append(worker)
            else:
                self.dispatcher.adopt(worker, task)
                self._submit(worker, task, cluster_worker.collect, self.run.id, is_adopted=True)
        for worker in idle:
            self._act(self.dispatcher.join(worker))

    def _recall(self) -> dict[Worker, WorkerStatus]:
        recalled = self.roster.recall()
        for address in self.roster.left_out:
            self._say_left_out(address)
        return recalled

    def _task_of(self, machine: str, cell: KeptCell | None) -> Task | None:
        if cell is None or cell.case not in self.run.cases:
            return None
        return Task(machine, cell.number, self.run.cases.index(cell.case))

    def _ledger(self, machine: str) -> MachineLedger:
        """Return the ledger of a kind of machine, made if missing."""
        if machine not in self.ledgers:
            self.ledgers[machine] = MachineLedger(machine, self.run, self._found, self._run_id(machine))
        return self.ledgers[machine]

    def _open(self, machine: str) -> None:
        if not self.dispatcher.is_open(machine):
            next_rounds = self._ledger(machine).next_rounds()
            self.dispatcher.open(machine, next_rounds)
            what = described(self.roster.descriptions[machine].metadata)
            cases = f"{len(next_rounds)} of {plural(len(self.run.cases), 'case')}"
            self._say(f"machine {machine}: {what}; {cases} of {self.run.scale} left")

    def _look_at_workers(self, on_joined: Callable[[Worker], None]) -> None:
        def on_described(address: str, future: Future) -> None:
            self._events.put(partial(self._described, address, future, on_joined))

        for worker in self.roster.update(on_described):
            self._lost(worker)

    def _described(self, address: str, future: Future, on_joined: Callable[[Worker], None]) -> None:
        worker = self.roster.take_in(address, future)
        if worker is not None:
            self._open(worker.machine)
            on_joined(worker)
        elif address in self.roster.left_out:
            self._say_left_out(address)

    def _say_left_out(self, address: str) -> None:
        self._say(f"left out: {address}: {self.roster.left_out[address]}")

    def _handle_events(self) -> None:
        """Handle the events of a moment; wait for the first one."""
        try:
            event = self._events.get(timeout=POLL_SECONDS)
            while True:
                event()
                event = self._events.get_nowait()
        except queue.Empty:
            return

    def _act(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Assignment):
                self._assign(decision.worker, decision.task)
            elif isinstance(decision, Abandonment):
                self._abandon(decision.task, decision.sentence)

    def _assign(self, worker: Worker, task: Task) -> None:
        if task.machine not in self._with_metadata:
            self._write_metadata(task.machine, self.roster.descriptions[task.machine].metadata)
            self._with_metadata.add(task.machine)
        request = CellRequest(
            run=self.run.id,
            case=self.run.cases[task.case],
            number=task.number,
            limits=replace(self.run.limits, time_budget_seconds=max(0.0, self._end - time.monotonic())),
            steps=self.run.steps,
            earlier=self.ledgers[task.machine].earlier(task.case),
            run_id=self._run_id(task.machine),
            setup=self.run.setup,
        )
        self._submit(worker, task, cluster_worker.measure, request)

    def _submit(
        self,
        worker: Worker,
        task: Task,
        function: Callable[..., Any],
        argument: Any,
        *,
        is_adopted: bool = False,
    ) -> None:
        future = self._client.submit(
            function,
            argument,
            workers=[worker.name],
            pure=False,
            retries=0,
            key=f"cell-{task.machine}-{task.case}-{task.number}-{secrets.token_hex(6)}",
        )
        self._submissions[worker] = _Submission(future, time.monotonic(), is_adopted)
        future.add_done_callback(lambda done: self._events.put(partial(self._ended, worker, task, done)))

    def _ended(self, worker: Worker, task: Task, future: Future) -> None:
        submission = self._submissions.get(worker)
        if submission is None or submission.future is not future:
            return  # the worker was lost before
        if future.status == "error":
            self._failed(worker, task, future)
            return
        try:
            found = future.result(timeout=ANSWER_SECONDS)
        except Exception:
            # A lost scheduler cancels all futures, but kills no worker.
            self.roster.check_scheduler()
            # The worker died between the end of its cell and the transfer of the records.
            self.roster.forget(worker)
            self._lost(worker)
            return
        ledger = self._ledger(task.machine)
        self._keep(ledger, found)
        seconds = self._log(worker, task, "collected" if submission.is_adopted else cluster_log.MEASURED)
        self._say(f"{self._name(task)}: {seconds:.0f} s on {worker.name}")
        following = ledger.next_round(task.case)
        # The end of a time budget may leave a part of a round, for a later run.
        is_left = following is not None and following <= task.number
        self._act(self.dispatcher.finish(worker, task, None if is_left else following))

    def _failed(self, worker: Worker, task: Task, future: Future) -> None:
        from distributed import KilledWorker

        if isinstance(future.exception(), KilledWorker):
            # It was started anew at the same address, so it never left the list of workers.
            self.roster.forget(worker)
            self._lost(worker)
            return
        reason = reason_of(future)
        self._log(worker, task, "failed", reason)
        self._say(f"{worker.name} gets no more cells: {reason}")
        self.roster.leave_out(worker, reason)
        self._act(self.dispatcher.fail(worker, task, f"failed: {reason}"))

    def _lost(self, worker: Worker) -> None:
        task = self.dispatcher.running.get(worker)
        if task is None:
            self._say(f"{worker.name} was lost")
        else:
            self._say(f"{worker.name} was lost while it measured {self._name(task)}")
            self._submissions[worker].future.cancel()
            self._log(worker, task, "lost")
        self._act(self.dispatcher.leave(worker, "was lost"))

    def _abandon(self, task: Task, sentence: str) -> None:
        self._say(f"{self._name(task)} failed: {sentence}")
        ledger = self._ledger(task.machine)
        self._keep(ledger, ledger.failed(task, sentence, self._run_id(task.machine)))

    def _keep(self, ledger: MachineLedger, found: Sequence[Record]) -> None:
        """Append records that are not on disk yet."""
        for record in found:
            if ledger.add(record):
                stored = replace(record, machine=ledger.fingerprint)
                records.append(self.run.out / RESULTS, stored)
                self._on_record(stored)

    def _log(self, worker: Worker, task: Task, outcome: str, reason: str = "") -> float:
        """Append the end of a worker's cell to the log; return the seconds that it took."""
        seconds = time.monotonic() - self._submissions.pop(worker).started
        path, case = self.run.out / folders.CLUSTER_LOG, self.run.cases[task.case]
        cluster_log.append(path, worker, task, case, outcome, seconds=seconds, reason=reason)
        return seconds

    def _run_id(self, machine: str) -> str:
        return f"{self._id}-{machine}"

    def _write_metadata(self, machine: str, metadata: dict[str, Any]) -> None:
        name = f"{self._run_id(machine)}-threads-{self.run.setup.threads}.json"
        run_metadata.write({**metadata, "scale": self.run.scale}, self.run.out / name)

    def _name(self, task: Task) -> str:
        case = self.run.cases[task.case]
        codec = case.codec if case.level is None else f"{case.codec}:{case.level}"
        what = " ".join(filter(None, (case.format, codec, case.track)))
        where = f" in {case.medium}" if case.medium else ""
        return f"{what} on {case.dataset}{where}, round {task.number} on machine {task.machine}"


def _kept(status: WorkerStatus) -> Sequence[Record]:
    """Return the records that a worker has kept for a client that did not come back for them."""
    return (status.kept.records if status.kept else None) or ()
