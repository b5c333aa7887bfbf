"""Dispatcher: which worker measures which cell next. It is told what happens, and asked who goes on.

It knows neither Dask nor time, and chance decides nothing: the same events give the same assignments.
The run on a cluster and the simulation of one drive this same class.

- All workers whose machines are alike, by fingerprint, share one list of cells: the whole of the run.
  Machines that differ measure it each for themselves, so that values that are compared were measured
  alike.
- One cell at a time on a host. Workers of one host take turns.
- All cases have a first round before any has a second, as far as workers are busy; a round of a case
  starts when its earlier one has ended.
- The cell of a worker that dies, or cannot measure, goes to another one, up to a number of attempts.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from format_bench.results.status import LOST_WORKERS

# Dask gives a task as many workers, too. One may die for another reason; three seldom do.
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
class Abandonment:
    """A task that counts as failed; later rounds of its case are left out."""

    task: Task
    sentence: str


class Dispatcher:
    """Assigns the tasks of a run to workers that come and go.

    Parameters
    ----------
    max_attempts : int
        Workers that may be lost on a task before it is abandoned.
    """

    def __init__(self, max_attempts: int = MAX_ATTEMPTS) -> None:
        self.max_attempts = max_attempts
        self.running: dict[Worker, Task] = {}
        """The task of each busy worker."""
        self.ready: dict[str, list[Task]] = {}
        """Tasks that no worker has, by machine: a heap, with first rounds first."""
        self.is_stopped = False
        """Assign no more tasks; those that run may end."""
        # The one that waits longest first.
        self._idle: dict[Worker, None] = {}
        self._busy_hosts: Counter[str] = Counter()
        self._losses: defaultdict[Task, list[str]] = defaultdict(list)

    @property
    def is_done(self) -> bool:
        """True if no task runs, and none waits that will be assigned."""
        return not self.running and (self.is_stopped or not any(self.ready.values()))

    @property
    def waiting_machines(self) -> list[str]:
        """Fingerprints of the machines with tasks that no worker has."""
        return sorted(machine for machine, tasks in self.ready.items() if tasks)

    def open(self, machine: str, next_rounds: Mapping[int, int]) -> None:
        """Make the list of tasks of a machine.

        Parameters
        ----------
        machine : str
            Fingerprint.
        next_rounds : mapping of int to int
            The next round of each case that is not finished on such machines, by index.
        """
        self.ready[machine] = [Task(machine, number, case) for case, number in next_rounds.items()]
        heapq.heapify(self.ready[machine])

    def join(self, worker: Worker) -> None:
        """Take in an idle worker, of a machine that is open."""
        self._idle[worker] = None

    def adopt(self, worker: Worker, task: Task) -> None:
        """Take in a worker that still measures a task for an earlier client of the same run.

        Before any idle worker of the machine joins, or that one may get the same task.
        """
        ready = self.ready[task.machine]
        if task in ready:
            ready.remove(task)
            heapq.heapify(ready)
        self._start(worker, task)

    def finish(self, worker: Worker, task: Task, next_round: int | None) -> None:
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
            return
        self._end(worker)
        self._idle[worker] = None
        if next_round is not None:
            heapq.heappush(self.ready[task.machine], Task(task.machine, next_round, task.case))

    def leave(self, worker: Worker, reason: str) -> Abandonment | None:
        """Take out a worker that died or cannot measure; its task goes to another one, or is abandoned.

        Parameters
        ----------
        worker : Worker
            The worker; unknown ones are ignored.
        reason : str
            Predicate of the sentence whose subject is the worker, e.g. "was lost".
        """
        self._idle.pop(worker, None)
        if worker not in self.running:
            return None
        task = self._end(worker)
        losses = self._losses[task]
        losses.append(f"{worker.name} {reason}")
        if len(losses) >= self.max_attempts:
            sentence = f"{LOST_WORKERS} in {len(losses)} attempts: {'; '.join(losses)}"
            return Abandonment(task, sentence)
        heapq.heappush(self.ready[task.machine], task)
        return None

    def assignments(self) -> list[tuple[Worker, Task]]:
        """Give tasks to idle workers on free hosts; return the new pairs."""
        if self.is_stopped or not any(self.ready.values()):
            return []
        found = []
        for worker in list(self._idle):
            ready = self.ready[worker.machine]
            if ready and not self._busy_hosts[worker.host]:
                del self._idle[worker]
                found.append((worker, heapq.heappop(ready)))
                self._start(*found[-1])
        return found

    def _start(self, worker: Worker, task: Task) -> None:
        self.running[worker] = task
        self._busy_hosts[worker.host] += 1

    def _end(self, worker: Worker) -> Task:
        self._busy_hosts[worker.host] -= 1
        return self.running.pop(worker)
