"""Session of a run on a cluster: cells go to workers, records come back as they are made.

`format_bench.clusters.dispatching` decides which worker measures what; this session turns its decisions
into tasks of Dask, and what becomes of them into its events. Records are appended to the results here,
by the client, each with the fingerprint of the machine that measured it.
"""

from __future__ import annotations

import json
import queue
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError
from format_bench.clusters.dispatching import Abandonment, Assignment, Decision, Dispatcher, Task, Worker
from format_bench.instruments.isolation import Outcome
from format_bench.metadata import run_metadata
from format_bench.metadata.fingerprint import described, sources_digest
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.results.records import Record, key
from format_bench.results.status import CellStatus
from format_bench.runner import cluster_worker, folders
from format_bench.runner.cell_process import CellRequest
from format_bench.runner.recording import combined, keys, records_of
from format_bench.runner.runner import Limits, Runner

if TYPE_CHECKING:
    from distributed import Client, Future

    from format_bench.families.cases import Case
    from format_bench.runner.cluster_worker import Description, KeptCell, WorkerStatus

POLL_SECONDS = 1.0
"""Time between two looks at the list of workers."""

RESULT_SECONDS = 60.0
"""Time within which a worker hands over its records."""

NO_WORKER_SECONDS = 300.0
"""Time without any worker after which a run ends; the same command resumes it."""


class MachineLedger:
    """Records of the machines of one kind, and their missing cells.

    Parameters
    ----------
    fingerprint : str
        Of these machines.
    cases : sequence of Case
        The cases of the run.
    runner : Runner
        Finds the missing cells; its results are replaced.
    found : iterable of Record
        All records of the folder; those of other machines are left out.
    """

    def __init__(
        self, fingerprint: str, cases: Sequence[Case], runner: Runner, found: Sequence[Record]
    ) -> None:
        self.fingerprint, self.cases, self._runner = fingerprint, cases, runner
        # Without the machine, as the runner makes them.
        own = (replace(each, machine="") for each in found if each.machine == fingerprint)
        runner.found = {key(each): each for each in own}

    @property
    def records(self) -> list[Record]:
        """The last record of each cell."""
        return list(self._runner.found.values())

    def add(self, record: Record) -> bool:
        """Take in a record; return False if it is known, or older than the known one."""
        known = self._runner.found.get(key(record))
        if known is not None and known.rounds >= record.rounds and known.value is not None:
            return False
        if known == record:
            return False
        self._runner.found[key(record)] = record
        return True

    def next_round(self, case: int) -> int | None:
        """Return the next round of a case, by its index; None if it is finished."""
        for number in self._runner.rounds:
            if self._runner.missing(self.cases[case], number):
                return number
        return None

    def next_rounds(self) -> dict[int, int]:
        """Return the next round of each case that is not finished."""
        found = {case: self.next_round(case) for case in range(len(self.cases))}
        return {case: number for case, number in found.items() if number is not None}

    def earlier(self, case: int) -> tuple[Record, ...]:
        """Return the records of a case, of all rounds so far."""
        own = {each for step in self.cases[case].steps for each in keys(self.cases[case], step)}
        return tuple(record for cell, record in self._runner.found.items() if cell in own)

    def failed(self, task: Task, sentence: str, run_id: str) -> list[Record]:
        """Return the records of a round that no worker could measure."""
        case, outcome = self.cases[task.case], Outcome(status=CellStatus.FAILED, sentence=sentence)
        return [
            combined(self._runner.found.get(key(empty)), empty, outcome)
            for step in self._runner.missing(case, task.number)
            for empty in records_of(case, 0, step, outcome, run_id)
        ]


@dataclass(frozen=True)
class ClusterRun:
    """A run on a cluster, as the session needs it."""

    id: str
    """Id of the folder of results."""
    cases: tuple[Case, ...]
    limits: Limits
    steps: frozenset[str]
    out: Path
    scratch: Path | None
    machines: tuple[str, ...] = ()
    """Beginnings of fingerprints; none for all machines."""

    def runner(self) -> Runner:
        """Return a runner that finds the missing cells."""
        return Runner(self.out, self.scratch or Path(), self.limits, steps=self.steps)

    @property
    def scale(self) -> str:
        """Sizes of the data in words."""
        return f"{', '.join(str(rows) for rows in sorted({each.rows for each in self.cases}))} rows"


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
        self.client, self.run, self.say, self.on_record = client, run, say, on_record
        self.dispatcher = Dispatcher()
        self.ledgers: dict[str, MachineLedger] = {}
        self.descriptions: dict[str, Description] = {}
        """A description of each kind of machine, by fingerprint."""
        self.ignored: dict[str, str] = {}
        """Addresses of workers that do not take part, and the reasons."""
        self.id = run.id
        self.session = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        self._known: dict[str, Worker | None] = {}
        """Workers by address; None while they are being described."""
        self._events: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._futures: dict[Worker, Future] = {}
        self._started: dict[Worker, float] = {}
        self._with_metadata: set[str] = set()
        """Fingerprints whose metadata are beside the results."""
        self._adopted: set[Task] = set()
        """Tasks that were started for an earlier client, so that their duration is not known."""
        self._threads = run.cases[0].threads
        path = run.out / RESULTS
        self._found = records.read(path) if path.exists() else []

    @property
    def workers_by_machine(self) -> Counter[str]:
        """Numbers of the workers that take part, by fingerprint."""
        return Counter(each.machine for each in self._known.values() if each)

    @property
    def hosts_by_machine(self) -> Counter[str]:
        """Numbers of their hosts, by fingerprint."""
        found = {(each.machine, each.host) for each in self._known.values() if each}
        return Counter(machine for machine, _ in found)

    def describe_all(self) -> None:
        """Wait until all workers of now are described; assign nothing."""
        for worker in self._recall():
            self._open(worker.machine)
        for address in self._addresses() - self._known.keys():
            self._describe(address)
        while None in self._known.values():
            try:
                _, address, future = self._events.get(timeout=POLL_SECONDS)
            except queue.Empty:
                for lost in self._known.keys() - self._addresses():
                    del self._known[lost]
                continue
            if found := self._take_in(address, future):
                self._known[address] = found
                self._open(found.machine)

    def measure(self) -> None:
        """Measure all that is missing, on machines of each kind.

        Raises
        ------
        ClusterError
            If no worker is left, or the scheduler is lost. Records made so far are on disk.
        """
        self._resume()
        last_worker = time.monotonic()
        while True:
            self._look_at_workers()
            if self._is_done:
                break
            if self.dispatcher.workers or None in self._known.values():
                last_worker = time.monotonic()
            elif time.monotonic() - last_worker > NO_WORKER_SECONDS or self._all_unfit():
                reasons = "; ".join(dict.fromkeys([*self.ignored.values(), *self._reasons()]))
                raise ClusterError(f"no worker is left{': ' if reasons else ''}{reasons}")
            self._handle_events()
        for mark in self._with_metadata:
            self._write_metadata(mark, run_metadata.finish(self.descriptions[mark].metadata))
        self.client.run(cluster_worker.release, self.id, on_error="ignore")

    @property
    def _is_done(self) -> bool:
        """True if all workers are described, and their machines have measured all."""
        is_described = bool(self.ledgers) and None not in self._known.values()
        return is_described and self.dispatcher.is_done

    def _reasons(self) -> list[str]:
        return [f"{each.name} {reason}" for each, reason in self.dispatcher.set_aside.items()]

    def _all_unfit(self) -> bool:
        """Return whether workers are connected, and none of them can measure."""
        return bool(self.ignored) and not self._known

    def _resume(self) -> None:
        """Take over the workers of an earlier client; those that still measure come first.

        Otherwise an idle one would get the same cell.
        """
        running = self._recall()
        tasks = {worker: self._task_of(worker.machine, cell) for worker, cell in running.items()}
        for worker, task in tasks.items():
            self._open(worker.machine)
            if task is not None:
                self.dispatcher.adopt(worker, task)
                self._adopted.add(task)
                self._submit(worker, task, cluster_worker.collect, self.id)
        for worker, task in tasks.items():
            if task is None:
                self._act(self.dispatcher.join(worker))

    def _recall(self) -> dict[Worker, KeptCell | None]:
        """Return the workers that an earlier client has described, and the cells that they measure.

        The results that they kept for it are recorded, before any list of missing cells is made.
        """
        arguments = self.id, self.run.scratch, self._threads
        found: dict[str, WorkerStatus | None]
        found = self.client.run(cluster_worker.status, *arguments, on_error="ignore")
        running: dict[Worker, KeptCell | None] = {}
        for address, each in found.items():
            if each is None or self._unfit(each.description) is not None:
                continue
            ledger = self._ledger(each.description)
            if each.kept is not None and each.kept.records is not None:
                self._keep(ledger, each.kept.records)
            worker = Worker(address, each.description.host, each.description.fingerprint)
            self._known[address] = worker
            running[worker] = each.running
        return running

    def _unfit(self, description: Description) -> str | None:
        """Return why machines do not take part; None if they do."""
        if description.sources != sources_digest():
            return "its FormatBench differs from this one; install the same version everywhere"
        wanted = self.run.machines
        if wanted and not description.fingerprint.startswith(wanted):
            return f"its machine, {description.fingerprint}, is not among --machines"
        return None

    def _task_of(self, machine: str, cell: KeptCell | None) -> Task | None:
        if cell is None or cell.case not in self.run.cases:
            return None
        return Task(machine, cell.number, self.run.cases.index(cell.case))

    def _ledger(self, description: Description) -> MachineLedger:
        """Return the ledger of a kind of machine, made if missing."""
        mark = description.fingerprint
        if mark not in self.ledgers:
            self.descriptions[mark] = description
            runner = self.run.runner()
            self.ledgers[mark] = MachineLedger(mark, self.run.cases, runner, self._found)
        return self.ledgers[mark]

    def _run_id(self, mark: str) -> str:
        return f"{self.session}-{mark}"

    def _write_metadata(self, mark: str, metadata: dict[str, Any]) -> None:
        path = self.run.out / f"{self._run_id(mark)}-threads-{self._threads}.json"
        run_metadata.write(metadata, path)

    def _open(self, machine: str) -> None:
        if not self.dispatcher.is_open(machine):
            next_rounds = self.ledgers[machine].next_rounds()
            self.dispatcher.open(machine, next_rounds)
            what = described(self.descriptions[machine].metadata)
            self.say(
                f"machine {machine}: {what}; {len(next_rounds)} of {len(self.run.cases)} cases left"
            )

    def _addresses(self) -> set[str]:
        try:
            return set(self.client.scheduler_info(n_workers=-1)["workers"])
        except Exception as error:
            raise ClusterError(f"the scheduler was lost ({error}); the same command goes on") from error

    def _look_at_workers(self) -> None:
        addresses = self._addresses()
        for address in addresses - self._known.keys() - self.ignored.keys():
            self._describe(address)
        for address in self._known.keys() - addresses:
            worker = self._known.pop(address)
            if worker is not None:
                self._lost(worker)
        for address in self.ignored.keys() - addresses:
            del self.ignored[address]

    def _lost(self, worker: Worker) -> None:
        if worker in self._futures:
            self._futures.pop(worker).cancel()
        task = self.dispatcher.running.get(worker)
        self.say(f"{worker.name} was lost" + (f" while it measured {self._name(task)}" if task else ""))
        if task:
            self._log(worker, task, "lost")
        self._act(self.dispatcher.leave(worker, "was lost"))

    def _describe(self, address: str) -> None:
        self._known[address] = None
        arguments = self.id, self.run.scratch, self._threads, self.run.scale
        future = self.client.submit(
            cluster_worker.describe,
            *arguments,
            workers=[address],
            pure=False,
            key=f"describe-{self.session}-{address}-{secrets.token_hex(3)}",
        )
        future.add_done_callback(lambda done: self._events.put((self._join, address, done)))

    def _take_in(self, address: str, future: Future) -> Worker | None:
        """Return a worker that has been described; None if it does not take part."""
        if address not in self._known or future.status == "cancelled":
            return None  # it was lost meanwhile
        if future.status == "error":
            unfit: str | None = _reason(future)
        else:
            description: Description = future.result()
            unfit = self._unfit(description)
        if unfit is not None:
            del self._known[address]
            self.ignored[address] = f"{address}: {unfit}"
            self.say(f"left out: {address}: {unfit}")
            return None
        self._ledger(description)
        return Worker(address, description.host, description.fingerprint)

    def _handle_events(self) -> None:
        """Handle the events of a moment; wait for the first one."""
        try:
            event = self._events.get(timeout=POLL_SECONDS)
            while True:
                handle, *arguments = event
                handle(*arguments)
                event = self._events.get_nowait()
        except queue.Empty:
            return

    def _join(self, address: str, future: Future) -> None:
        worker = self._take_in(address, future)
        if worker is not None:
            self._known[address] = worker
            self._open(worker.machine)
            self._act(self.dispatcher.join(worker))

    def _act(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Assignment):
                self._assign(decision.worker, decision.task)
            elif isinstance(decision, Abandonment):
                self._abandon(decision.task, decision.sentence)

    def _assign(self, worker: Worker, task: Task) -> None:
        ledger = self.ledgers[task.machine]
        if task.machine not in self._with_metadata:
            self._write_metadata(task.machine, self.descriptions[task.machine].metadata)
            self._with_metadata.add(task.machine)
        request = CellRequest(
            run=self.id,
            case=self.run.cases[task.case],
            number=task.number,
            limits=self.run.limits,
            steps=self.run.steps,
            earlier=ledger.earlier(task.case),
            run_id=self._run_id(task.machine),
            scratch=self.run.scratch,
        )
        self._submit(worker, task, cluster_worker.measure, request)

    def _submit(self, worker: Worker, task: Task, function: Callable[..., Any], argument: Any) -> None:
        future = self.client.submit(
            function,
            argument,
            workers=[worker.name],
            pure=False,
            retries=0,
            key=f"cell-{task.machine}-{task.case}-{task.number}-{secrets.token_hex(6)}",
        )
        self._futures[worker], self._started[worker] = future, time.monotonic()
        future.add_done_callback(lambda done: self._events.put((self._ended, worker, task, done)))

    def _ended(self, worker: Worker, task: Task, future: Future) -> None:
        if worker not in self._futures or self._futures[worker] is not future:
            return  # the worker was lost before
        if future.status == "error":
            self._failed(worker, task, future)
            return
        try:
            found = future.result(timeout=RESULT_SECONDS)
        except Exception:
            # The worker died between the end of its cell and the transfer of the records.
            self._known.pop(worker.name, None)
            self._lost(worker)
            return
        del self._futures[worker]
        ledger = self.ledgers[task.machine]
        self._keep(ledger, found)
        seconds = self._log(worker, task, "collected" if task in self._adopted else "measured")
        self.say(f"{self._name(task)}: {seconds:.0f} s on {worker.name}")
        following = ledger.next_round(task.case)
        self._act(self.dispatcher.finish(worker, task, following))

    def _failed(self, worker: Worker, task: Task, future: Future) -> None:
        from distributed import KilledWorker

        if isinstance(future.exception(), KilledWorker):
            # It was started anew at the same address, so it never left the list of workers.
            self._known.pop(worker.name, None)
            self._lost(worker)
            return
        del self._futures[worker]
        reason = _reason(future)
        self._log(worker, task, "failed", reason)
        self.say(f"{worker.name} gets no more cells: {reason}")
        self._known.pop(worker.name, None)
        self.ignored[worker.name] = f"{worker.name}: {reason}"
        self._act(self.dispatcher.fail(worker, task, f"failed: {reason}"))

    def _abandon(self, task: Task, sentence: str) -> None:
        self.say(f"{self._name(task)} failed: {sentence}")
        ledger = self.ledgers[task.machine]
        self._keep(ledger, ledger.failed(task, sentence, self._run_id(task.machine)))

    def _keep(self, ledger: MachineLedger, found: Sequence[Record]) -> None:
        """Append records that are not on disk yet."""
        for record in found:
            if ledger.add(record):
                stored = replace(record, machine=ledger.fingerprint)
                records.append(self.run.out / RESULTS, stored)
                self.on_record(stored)

    def _log(self, worker: Worker, task: Task, outcome: str, reason: str = "") -> float:
        """Append the end of an assignment to the log; return the seconds that it took."""
        seconds = time.monotonic() - self._started.get(worker, time.monotonic())
        entry = {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "outcome": outcome,
            "seconds": round(seconds, 3),
            "machine": task.machine,
            "host": worker.host,
            "worker": worker.name,
            "round": task.number,
            "case": asdict(self.run.cases[task.case]),
            "reason": reason,
        }
        with (self.run.out / folders.CLUSTER_LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        return seconds

    def _name(self, task: Task) -> str:
        case = self.run.cases[task.case]
        codec = "" if case.codec is None else f" {case.codec}{case.level or ''}"
        return f"{case.format}{codec} on {case.dataset}, round {task.number} on machine {task.machine}"


def _reason(future: Future) -> str:
    error = future.exception()
    text = str(error) if isinstance(error, ClusterError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:300]
