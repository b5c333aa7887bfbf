"""Dispatcher: which worker measures which cell next. Events come in, decisions go out.

It knows neither Dask nor time, and chance decides nothing: the same events give the same decisions. The
run on a cluster and the simulation of one drive this same class.

- All workers whose machines are alike, by fingerprint, share one list of cells: the whole of the run.
  Machines that differ measure it each for themselves, so that what is compared was measured alike.
- One cell at a time on a host. Workers of one host take turns.
- All cases have a first round before any has a second, as far as workers are busy; a round of a case
  starts when its earlier one has ended.
- The cell of a worker that dies goes to another one, up to a number of attempts.
- A worker that cannot measure, e.g. since its disk is full, gets no more cells.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from format_bench.results.status import LOST_WORKERS

MAX_ATTEMPTS = 3
"""Workers that may die of a cell, or fail to measure it, before it counts as failed."""


@dataclass(frozen=True, order=True)
class Worker:
    """A process that measures."""

    name: str
    """Unique; a worker that is started anew has another one."""
    host: str
    """Workers of one host disturb each other."""
    machine: str
    """Fingerprint of hardware and software."""


@dataclass(frozen=True, order=True)
class Task:
    """One round of a case on machines of one kind."""

    machine: str
    number: int
    """The round, from 1."""
    case: int
    """Index of the case in the run."""


@dataclass(frozen=True)
class Assignment:
    """Decision: the worker measures the task now."""

    worker: Worker
    task: Task


@dataclass(frozen=True)
class Abandonment:
    """Decision: the task counts as failed, and later rounds of the case are left out."""

    task: Task
    sentence: str


Decision = Assignment | Abandonment


@dataclass
class _Machine:
    """Tasks of machines of one kind."""

    ready: list[Task] = field(default_factory=list)
    """A heap: first rounds first, then in the order of the cases."""
    running: int = 0


class Dispatcher:
    """Assigns the tasks of a run to workers that come and go.

    Parameters
    ----------
    max_attempts : int
        Workers that may die of a task before it is abandoned.
    """

    def __init__(self, max_attempts: int = MAX_ATTEMPTS) -> None:
        self.max_attempts = max_attempts
        self.running: dict[Worker, Task] = {}
        """The task of each busy worker."""
        self.set_aside: dict[Worker, str] = {}
        """Workers that cannot measure, and the reason."""
        self._machines: dict[str, _Machine] = {}
        self._idle: defaultdict[str, OrderedDict[Worker, None]] = defaultdict(OrderedDict)
        # Hosts without a running task, in the order in which they became free.
        self._free: OrderedDict[str, None] = OrderedDict()
        self._deaths: defaultdict[Task, list[str]] = defaultdict(list)
        self._is_stopped = False

    @property
    def is_done(self) -> bool:
        """True if no known machine has a task that runs, or that waits and will be assigned."""
        if self._is_stopped:
            return not self.running
        return not any(each.ready or each.running for each in self._machines.values())

    def stop(self) -> None:
        """Assign no more tasks; those that run may end."""
        self._is_stopped = True

    @property
    def workers(self) -> set[Worker]:
        """The workers that measure or could."""
        return {*self.running, *(worker for idle in self._idle.values() for worker in idle)}

    @property
    def waiting_machines(self) -> list[str]:
        """Fingerprints of the machines with tasks that no worker has."""
        return sorted(machine for machine, each in self._machines.items() if each.ready)

    def is_open(self, machine: str) -> bool:
        """Return whether the cells of a machine are known."""
        return machine in self._machines

    def open(self, machine: str, next_rounds: Mapping[int, int]) -> None:
        """Make the list of cells of a machine; without effect if it exists.

        Parameters
        ----------
        machine : str
            Fingerprint.
        next_rounds : mapping of int to int
            The next round of each case that is not finished on such machines, by index.
        """
        if machine not in self._machines:
            tasks = [Task(machine, number, case) for case, number in next_rounds.items()]
            heapq.heapify(tasks)
            self._machines[machine] = _Machine(tasks)

    def join(self, worker: Worker) -> list[Decision]:
        """Take in an idle worker, of a machine that is open."""
        self._idle[worker.host][worker] = None
        if worker.host not in {each.host for each in self.running}:
            self._free.setdefault(worker.host)
        return self._assignments()

    def adopt(self, worker: Worker, task: Task) -> None:
        """Take in a worker that still measures a task for an earlier client of the same run.

        Before any idle worker of the machine joins, or that one may get the same task.
        """
        machine = self._machines[task.machine]
        if task in machine.ready:
            machine.ready.remove(task)
            heapq.heapify(machine.ready)
        machine.running += 1
        self.running[worker] = task
        self._free.pop(worker.host, None)

    def leave(self, worker: Worker, reason: str) -> list[Decision]:
        """Take out a worker that died or was removed; its task goes to another one.

        Parameters
        ----------
        worker : Worker
            The worker; unknown ones are ignored.
        reason : str
            Predicate of the sentence whose subject is the worker, e.g. "was lost".
        """
        self._idle[worker.host].pop(worker, None)
        if not self._idle[worker.host]:
            del self._idle[worker.host]
        task = self._end(worker)
        return [*(self._again(worker, task, reason) if task else ()), *self._assignments()]

    def finish(self, worker: Worker, task: Task, next_round: int | None) -> list[Decision]:
        """Note that a task was measured and recorded.

        Parameters
        ----------
        worker : Worker
            The worker.
        task : Task
            Its task; ignored if the worker was not measuring it.
        next_round : int, optional
            The next round of the case; None if it is finished.
        """
        if self.running.get(worker) != task:
            return []
        self._end(worker)
        self._idle[worker.host][worker] = None
        if next_round is not None:
            heapq.heappush(self._machines[task.machine].ready, Task(task.machine, next_round, task.case))
        return self._assignments()

    def fail(self, worker: Worker, task: Task, reason: str) -> list[Decision]:
        """Note that a worker could not measure; it gets no more tasks, and another takes this one.

        Parameters
        ----------
        worker : Worker
            The worker.
        task : Task
            Its task; ignored if the worker was not measuring it.
        reason : str
            Predicate of the sentence whose subject is the worker.
        """
        if self.running.get(worker) != task:
            return []
        self._end(worker)
        self.set_aside[worker] = reason
        return [*self._again(worker, task, reason), *self._assignments()]

    def _end(self, worker: Worker) -> Task | None:
        """Free the host of a worker; return the task that it was measuring."""
        task = self.running.pop(worker, None)
        if task is not None:
            self._machines[task.machine].running -= 1
            self._free[worker.host] = None
        return task

    def _again(self, worker: Worker, task: Task, reason: str) -> list[Decision]:
        deaths = self._deaths[task]
        deaths.append(f"{worker.name} {reason}")
        if len(deaths) >= self.max_attempts:
            sentence = f"{LOST_WORKERS} in {len(deaths)} attempts: {'; '.join(deaths)}"
            return [Abandonment(task, sentence)]
        heapq.heappush(self._machines[task.machine].ready, task)
        return []

    def _assignments(self) -> list[Decision]:
        """Give tasks to idle workers on free hosts, the one that waits longest first."""
        found: list[Decision] = []
        if self._is_stopped or not any(each.ready for each in self._machines.values()):
            return found
        for host in list(self._free):
            for worker in self._idle.get(host, ()):
                machine = self._machines[worker.machine]
                if machine.ready:
                    task = heapq.heappop(machine.ready)
                    machine.running += 1
                    self.running[worker] = task
                    del self._idle[host][worker], self._free[host]
                    found.append(Assignment(worker, task))
                    break
        return found
