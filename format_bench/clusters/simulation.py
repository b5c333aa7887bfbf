"""Simulated cluster for the real dispatcher: workers die, are slow or broken, clients are killed.

Time is simulated, chance is seeded, and the dispatcher is a run's own. Each measurement is counted
beside the client's records. So the counts can show that nothing was lost or measured twice, and that
no two cells ran on one host at a time.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from format_bench.clusters.dispatching import Abandonment, Assignment, Decision, Dispatcher, Task, Worker


@dataclass(frozen=True)
class Setting:
    """Size of a simulated run, and how often things fail."""

    cells: int = 10_000
    """Rounds of cases, of all machines together; rounded down to whole cases."""
    workers: int = 500
    machines: int = 2
    """Kinds of machines; each measures all cases."""
    rounds: int = 2
    shared_hosts: int = 50
    """Hosts with two workers, each of the next kind of machine."""
    median_seconds: float = 60.0
    """Of a cell; durations are log-normal."""
    slow_share: float = 0.03
    """Of cells that take `SLOW_FACTOR` times as long."""
    death_share: float = 0.02
    """Of cells during which the worker dies."""
    broken_share: float = 0.002
    """Of cells that find their worker unable to measure."""
    deadly_cases: int = 2
    """Cases that kill every worker."""
    client_kills: int = 4
    seed: int = 0

    @property
    def cases(self) -> int:
        """Cases of the run."""
        return self.cells // (self.machines * self.rounds)


SLOW_FACTOR = 10
NOTICE_SECONDS = 5.0
"""After which a client notices that a worker died."""
RETURN_SECONDS = 300.0
"""After which a cluster has started a new worker for a dead or broken one."""
DOWN_SECONDS = 120.0
"""After which a killed client is started again."""


@dataclass
class Outcome:
    """Counts of a simulated run; `wrong` has the sentences of all that must not happen."""

    recorded: int = 0
    abandoned: int = 0
    measured: int = 0
    """Measurements that were finished."""
    measured_twice: int = 0
    lost: int = 0
    """Cells that are neither recorded nor abandoned."""
    left_out: int = 0
    """Later rounds of abandoned cases."""
    deaths: int = 0
    requeued: int = 0
    broken: int = 0
    slow: int = 0
    client_kills: int = 0
    kept: int = 0
    """Results that workers kept while no client was there."""
    adopted: int = 0
    """Workers that still measured when a client was started again."""
    simulated_seconds: float = 0.0
    busy_seconds: float = 0.0
    events: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass
class _State:
    """A simulated worker."""

    worker: Worker
    task: Task | None = None
    kept: Task | None = None
    """Its last task, whose result no client has confirmed."""
    client: int = 0
    """The client that the worker works for."""


class Simulation:
    """One simulated run.

    Parameters
    ----------
    setting : Setting
        Its size, and how often things fail.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.outcome = Outcome()
        self.now = 0.0
        self._random = random.Random(setting.seed)  # noqa: S311 (a simulation)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._names = itertools.count()
        self._states: dict[Worker, _State] = {}
        self._hosts: dict[str, Worker] = {}
        """The worker that has the lock of a host."""
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._finished: Counter[Task] = Counter()
        # What a client has on its disk.
        self._recorded: set[Task] = set()
        self._abandoned: set[Task] = set()
        self._client = 0
        self._dispatcher = Dispatcher()
        total = setting.cases * setting.rounds * setting.machines
        share = total // (setting.client_kills + 1)
        self._kill_at = [share * number for number in range(1, setting.client_kills + 1)]
        deadly = random.Random(setting.seed + 1).sample(range(setting.cases), setting.deadly_cases)  # noqa: S311
        self._deadly = set(deadly)

    def run(self) -> Outcome:
        """Simulate until nothing happens any more; return the counts."""
        setting = self.setting
        alone = setting.workers - 2 * setting.shared_hosts
        hosts = [*range(alone), *(alone + each // 2 for each in range(2 * setting.shared_hosts))]
        for number, host in enumerate(hosts):
            self._start_worker(f"host-{host}", f"machine-{number % setting.machines}")
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()
            self.outcome.events += 1
        self._count()
        return self.outcome

    def _at(self, seconds: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), event))

    def _start_worker(self, host: str, machine: str) -> None:
        worker = Worker(f"worker-{next(self._names)}", host, machine)
        self._states[worker] = _State(worker)
        self._at(self._random.uniform(0, 60), lambda: self._describe(worker, self._client))

    def _describe(self, worker: Worker, client: int) -> None:
        """Let a worker join as soon as its host is free: a description takes the lock of the host."""
        if worker not in self._states or client != self._client or self._is_down:
            return
        if worker.host in self._hosts:
            again = lambda: self._describe(worker, client)  # noqa: E731 (a closure)
            self._waiting.setdefault(worker.host, []).append(again)
            return
        self._states[worker].client = client
        self._open(worker.machine)
        self._act(self._dispatcher.join(worker))

    @property
    def _is_down(self) -> bool:
        return self._client < 0

    def _open(self, machine: str) -> None:
        if not self._dispatcher.is_open(machine):
            self._dispatcher.open(machine, self._next_rounds(machine))

    def _next_rounds(self, machine: str) -> dict[int, int]:
        """Return the next round of each case, from the records on the client's disk."""
        found = {}
        for case in range(self.setting.cases):
            next_round = self._next_round(machine, case)
            if next_round is not None:
                found[case] = next_round
        return found

    def _next_round(self, machine: str, case: int) -> int | None:
        for number in range(1, self.setting.rounds + 1):
            task = Task(machine, number, case)
            if task in self._abandoned:
                return None
            if task not in self._recorded:
                return number
        return None

    def _act(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Abandonment):
                self._abandoned.add(decision.task)
            elif isinstance(decision, Assignment):
                self._measure(decision.worker, decision.task)

    def _measure(self, worker: Worker, task: Task) -> None:
        if worker not in self._states:
            return  # it died; the client will notice
        if worker.host in self._hosts:
            self.outcome.wrong.append(f"{worker.host} has two measurements at {self.now:.0f} s")
        if worker.machine != task.machine:
            self.outcome.wrong.append(f"{worker.name} measures for another machine")
        if task in self._recorded:
            self.outcome.wrong.append(f"{task} is assigned though it is recorded")
        if task.number > 1 and Task(task.machine, task.number - 1, task.case) not in self._recorded:
            self.outcome.wrong.append(f"{task} is assigned before its earlier round is recorded")
        state = self._states[worker]
        state.task, state.kept = task, None
        self._hosts[worker.host] = worker
        seconds = self._random.lognormvariate(0, 0.8) * self.setting.median_seconds
        if self._random.random() < self.setting.slow_share:
            seconds *= SLOW_FACTOR
            self.outcome.slow += 1
        chance = self._random.random()
        if task.case in self._deadly or chance < self.setting.death_share:
            seconds *= self._random.random()
            self._at(seconds, lambda: self._die(worker))
        elif chance < self.setting.death_share + self.setting.broken_share:
            self._at(1.0, lambda: self._break(worker, task))
        else:
            self._at(seconds, lambda: self._end(worker, task))
            self.outcome.measured += 1
            self._finished[task] += 1
        self.outcome.busy_seconds += seconds

    def _free(self, worker: Worker) -> None:
        del self._hosts[worker.host]
        for again in self._waiting.pop(worker.host, []):
            self._at(0.0, again)

    def _end(self, worker: Worker, task: Task) -> None:
        self._free(worker)
        state = self._states[worker]
        state.task, state.kept = None, task
        if state.client == self._client:
            self._record(task)
            following = self._next_round(task.machine, task.case)
            self._act(self._dispatcher.finish(worker, task, following))
            self._maybe_kill_client()

    def _break(self, worker: Worker, task: Task) -> None:
        self._free(worker)
        self.outcome.broken += 1
        if self._states.pop(worker).client == self._client:
            self.outcome.requeued += 1
            self._act(self._dispatcher.fail(worker, task, "has no space left on its disk"))
        self._at(RETURN_SECONDS, lambda: self._start_worker(worker.host, worker.machine))

    def _die(self, worker: Worker) -> None:
        self._free(worker)
        del self._states[worker]
        self.outcome.deaths += 1
        client = self._client

        def notice() -> None:
            if client == self._client and not self._is_down:
                before = len(self._abandoned)
                self._act(self._dispatcher.leave(worker, "was lost"))
                self.outcome.requeued += len(self._abandoned) == before

        self._at(NOTICE_SECONDS, notice)
        self._at(RETURN_SECONDS, lambda: self._start_worker(worker.host, worker.machine))

    def _record(self, task: Task) -> None:
        if task in self._recorded:
            self.outcome.wrong.append(f"{task} is recorded twice")
        self._recorded.add(task)

    def _maybe_kill_client(self) -> None:
        if self._kill_at and len(self._recorded) >= self._kill_at[0]:
            self._kill_at.pop(0)
            self.outcome.client_kills += 1
            new = abs(self._client) + 1
            self._client = -new  # until it is started again
            self._at(DOWN_SECONDS, lambda: self._start_client(new))

    def _start_client(self, client: int) -> None:
        """Collect kept results, adopt workers that still measure, then let the others join."""
        self._client, self._dispatcher = client, Dispatcher()
        for state in self._states.values():
            if state.kept is not None and state.kept not in self._recorded:
                self._record(state.kept)
                self.outcome.kept += 1
        for worker, state in self._states.items():
            if state.task is not None:
                self._open(worker.machine)
                state.client = client
                self._dispatcher.adopt(worker, state.task)
                self.outcome.adopted += 1
        for worker, state in list(self._states.items()):
            if state.task is None:
                self._describe(worker, client)

    def _count(self) -> None:
        setting, outcome = self.setting, self.outcome
        outcome.recorded, outcome.abandoned = len(self._recorded), len(self._abandoned)
        outcome.left_out = sum(setting.rounds - task.number for task in self._abandoned)
        total = setting.cases * setting.rounds * setting.machines
        outcome.lost = total - outcome.recorded - outcome.abandoned - outcome.left_out
        outcome.measured_twice = sum(times - 1 for times in self._finished.values())
        outcome.simulated_seconds = self.now
