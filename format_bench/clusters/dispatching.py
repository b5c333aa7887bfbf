"""Dispatcher: which worker measures which cell next, by the events that are reported to it.

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
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from format_bench.results.status import LOST_WORKERS

# Workers that may die of a cell, or fail to measure it, before it counts as failed. Dask gives a task as
# many workers, too. One may die for another reason; three seldom do.
MAX_ATTEMPTS = 3


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
    next_rounds : callable
        Returns the next round of each case that is not finished on machines of a fingerprint, by index;
        called when the first of these machines joins.
    max_attempts : int
        Workers that may be lost on a task before it is abandoned.
    """

    def __init__(
        self, next_rounds: Callable[[str], Mapping[int, int]], max_attempts: int = MAX_ATTEMPTS
    ) -> None:
        self.running: dict[Worker, Task] = {}
        """The task of each busy worker."""
        self.ready: dict[str, list[Task]] = {}
        """Tasks that no worker has, by machine: a heap, with first rounds first."""
        self.is_stopped = False
        """Assign no more tasks; those that run may end."""
        self._next_rounds, self._max_attempts = next_rounds, max_attempts
        # The one that waits longest first.
        self._idle: dict[Worker, None] = {}
        self._losses: defaultdict[Task, list[str]] = defaultdict(list)

    @property
    def is_done(self) -> bool:
        """True if no task runs, and none waits that will be assigned."""
        return not self.running and (self.is_stopped or not self.waiting_machines)

    @property
    def waiting_machines(self) -> list[str]:
        """Fingerprints of the machines with tasks that no worker has."""
        return sorted(machine for machine, tasks in self.ready.items() if tasks)

    def join(self, worker: Worker, task: Task | None = None) -> None:
        """Take in an idle worker, or one that still measures a task for an earlier client of the run."""
        machine = worker.machine
        if machine not in self.ready:
            rounds = self._next_rounds(machine).items()
            self.ready[machine] = sorted(Task(machine, number, case) for case, number in rounds)
        if task is None:
            self._idle[worker] = None
            return
        self.running[worker] = task
        self.ready[machine] = sorted(each for each in self.ready[machine] if each != task)

    def finish(self, worker: Worker, task: Task, next_round: int | None) -> None:
        """Note that a task was measured and recorded; ignored if the worker was not measuring it.

        The next round of its case may be assigned from now on; None if the case is finished.
        """
        if self.running.get(worker) != task:
            return
        del self.running[worker]
        self._idle[worker] = None
        if next_round is not None:
            heapq.heappush(self.ready[task.machine], Task(task.machine, next_round, task.case))

    def leave(self, worker: Worker, reason: str) -> Abandonment | None:
        """Take out a worker that died or cannot measure; its task goes to another one, or is abandoned.

        The reason is a predicate with the worker as its subject, e.g. "was lost".
        """
        self._idle.pop(worker, None)
        task = self.running.pop(worker, None)
        if task is None:
            return None
        losses = self._losses[task]
        losses.append(f"{worker.name} {reason}")
        if len(losses) >= self._max_attempts:
            sentence = f"{LOST_WORKERS} in {len(losses)} attempts: {'; '.join(losses)}"
            return Abandonment(task, sentence)
        heapq.heappush(self.ready[task.machine], task)
        return None

    def assignments(self) -> list[tuple[Worker, Task]]:
        """Give tasks to idle workers on free hosts; return the new pairs."""
        if self.is_stopped or not self.waiting_machines:
            return []
        found, busy = [], {worker.host for worker in self.running}
        for worker in list(self._idle):
            ready = self.ready[worker.machine]
            if ready and worker.host not in busy:
                del self._idle[worker]
                self.running[worker] = heapq.heappop(ready)
                busy.add(worker.host)
                found.append((worker, self.running[worker]))
        return found
