"""Study of the dispatcher of clusters: a simulated run of thousands of cells with failures.

Workers die, are slow or broken, clients are killed; the dispatcher is a run's own. Time is simulated and
chance is seeded. Each measurement is counted beside the client's records. So the counts can show that
nothing was lost or measured twice, and that no two cells ran on one host at a time.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import click

from adapter_core.errors import ClusterError
from format_bench.clusters.dispatching import Abandonment, Dispatcher, Task, Worker
from format_bench.results.display.markdown import table_lines


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


# A cell whose machine is shared with nine others. Chosen, not measured, as are the times below.
SLOW_FACTOR = 10
# After which a client notices that a worker died.
NOTICE_SECONDS = 5.0
# After which a cluster has started a new worker for a dead or broken one.
RETURN_SECONDS = 300.0
# After which a killed client is started again.
DOWN_SECONDS = 120.0


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
class _Memory:
    """A cluster's memory of a worker."""

    task: Task | None = None
    kept: Task | None = None
    """Its last task, whose result no client has confirmed."""


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
        self._workers: dict[Worker, _Memory] = {}
        self._locked: set[str] = set()
        """Hosts on which a cell is measured."""
        self._waiting: defaultdict[str, list[Worker]] = defaultdict(list)
        """Workers that are described when their host is free: a description takes its lock."""
        self._finished: Counter[Task] = Counter()
        # What a client has on its disk.
        self._recorded: set[Task] = set()
        self._abandoned: set[Task] = set()
        self._dispatcher: Dispatcher | None = Dispatcher(self._next_rounds)
        """The client's; None while no client runs."""
        share = setting.cases * setting.rounds * setting.machines // (setting.client_kills + 1)
        self._kill_at = [share * number for number in range(1, setting.client_kills + 1)]
        deadly = random.Random(setting.seed + 1).sample(range(setting.cases), setting.deadly_cases)  # noqa: S311
        self._deadly = set(deadly)

    def run(self) -> Outcome:
        """Simulate until nothing happens any more; return the counts."""
        setting, outcome = self.setting, self.outcome
        alone = setting.workers - 2 * setting.shared_hosts
        hosts = [*range(alone), *(alone + each // 2 for each in range(2 * setting.shared_hosts))]
        for number, host in enumerate(hosts):
            self._start_worker(f"host-{host}", f"machine-{number % setting.machines}")
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()
            for worker, task in self._dispatcher.assignments() if self._dispatcher else ():
                self._measure(worker, task)
            outcome.events += 1
        total = setting.cases * setting.rounds * setting.machines
        outcome.recorded, outcome.abandoned = len(self._recorded), len(self._abandoned)
        outcome.left_out = sum(setting.rounds - task.number for task in self._abandoned)
        outcome.lost = total - outcome.recorded - outcome.abandoned - outcome.left_out
        outcome.measured_twice = sum(times - 1 for times in self._finished.values())
        outcome.simulated_seconds = self.now
        return outcome

    def _at(self, seconds: float, event: Callable[..., None], *arguments: object) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), lambda: event(*arguments)))

    def _start_worker(self, host: str, machine: str) -> None:
        worker = Worker(f"worker-{next(self._names)}", host, machine)
        self._workers[worker] = _Memory()
        self._at(self._random.uniform(0, 60), self._describe, worker, self._dispatcher)

    def _describe(self, worker: Worker, client: Dispatcher | None) -> None:
        if client is None or client is not self._dispatcher or worker not in self._workers:
            return  # a client that is started later describes it anew
        if worker.host in self._locked:
            self._waiting[worker.host].append(worker)
            return
        client.join(worker)

    def _next_rounds(self, machine: str) -> dict[int, int]:
        rounds = ((case, self._next_round(machine, case)) for case in range(self.setting.cases))
        return {case: number for case, number in rounds if number is not None}

    def _next_round(self, machine: str, case: int) -> int | None:
        """Return the next round of a case, from the records on the client's disk."""
        for number in range(1, self.setting.rounds + 1):
            task = Task(machine, number, case)
            if task in self._abandoned:
                return None
            if task not in self._recorded:
                return number
        return None

    def _measure(self, worker: Worker, task: Task) -> None:
        if worker not in self._workers:
            return  # it died; the client will notice
        self._check(worker, task)
        self._workers[worker].task, self._workers[worker].kept = task, None
        self._locked.add(worker.host)
        seconds = self._random.lognormvariate(0, 0.8) * self.setting.median_seconds
        if self._random.random() < self.setting.slow_share:
            seconds *= SLOW_FACTOR
            self.outcome.slow += 1
        chance = self._random.random()
        if task.case in self._deadly or chance < self.setting.death_share:
            seconds *= self._random.random()
            self._at(seconds, self._die, worker)
        elif chance < self.setting.death_share + self.setting.broken_share:
            self._at(1.0, self._break, worker)
        else:
            self._at(seconds, self._end, worker, task)
            self.outcome.measured += 1
            self._finished[task] += 1
        self.outcome.busy_seconds += seconds

    def _check(self, worker: Worker, task: Task) -> None:
        """Note each rule that an assignment breaks."""
        broken = {
            f"{worker.host} has two measurements at {self.now:.0f} s": worker.host in self._locked,
            f"{worker.name} measures for another machine": worker.machine != task.machine,
            f"{task} is assigned though it is recorded": task in self._recorded,
            f"{task} is assigned before its earlier round is recorded": task.number > 1
            and Task(task.machine, task.number - 1, task.case) not in self._recorded,
        }
        self.outcome.wrong += [sentence for sentence, is_broken in broken.items() if is_broken]

    def _free(self, worker: Worker) -> None:
        self._locked.remove(worker.host)
        for each in self._waiting.pop(worker.host, []):
            self._at(0.0, self._describe, each, self._dispatcher)

    def _end(self, worker: Worker, task: Task) -> None:
        self._free(worker)
        self._workers[worker].task, self._workers[worker].kept = None, task
        if self._dispatcher is not None and self._dispatcher.running.get(worker) == task:
            self._record(task)
            self._dispatcher.finish(worker, task, self._next_round(task.machine, task.case))
            self._maybe_kill_client()

    def _break(self, worker: Worker) -> None:
        self._free(worker)
        self.outcome.broken += 1
        del self._workers[worker]
        self._leave(worker, "has no space left on its disk", self._dispatcher)
        self._at(RETURN_SECONDS, self._start_worker, worker.host, worker.machine)

    def _die(self, worker: Worker) -> None:
        self._free(worker)
        self.outcome.deaths += 1
        del self._workers[worker]
        self._at(NOTICE_SECONDS, self._leave, worker, "was lost", self._dispatcher)
        self._at(RETURN_SECONDS, self._start_worker, worker.host, worker.machine)

    def _leave(self, worker: Worker, reason: str, client: Dispatcher | None) -> None:
        if client is None or client is not self._dispatcher or worker not in client.running:
            return
        found = client.leave(worker, reason)
        if isinstance(found, Abandonment):
            self._abandoned.add(found.task)
        self.outcome.requeued += found is None

    def _record(self, task: Task) -> None:
        if task in self._recorded:
            self.outcome.wrong.append(f"{task} is recorded twice")
        self._recorded.add(task)

    def _maybe_kill_client(self) -> None:
        if self._kill_at and len(self._recorded) >= self._kill_at[0]:
            self._kill_at.pop(0)
            self.outcome.client_kills += 1
            self._dispatcher = None
            self._at(DOWN_SECONDS, self._start_client)

    def _start_client(self) -> None:
        """Collect kept results, adopt workers that still measure, then let the others join."""
        client = self._dispatcher = Dispatcher(self._next_rounds)
        for memory in self._workers.values():
            if memory.kept is not None and memory.kept not in self._recorded:
                self._record(memory.kept)
                self.outcome.kept += 1
        measuring = {w: each.task for w, each in self._workers.items() if each.task is not None}
        for worker, task in measuring.items():
            client.join(worker, task)
            self.outcome.adopted += 1
        for worker in [each for each in self._workers if each not in measuring]:
            self._describe(worker, client)


def lines(setting: Setting, outcome: Outcome) -> Iterator[str]:
    """Yield the lines of a Markdown table of the events of a simulated run."""
    hosts = setting.workers - setting.shared_hosts
    rows = [
        ("cells", setting.cases * setting.rounds * setting.machines),
        ("workers", setting.workers),
        ("hosts", hosts),
        ("kinds of machines", setting.machines),
        ("workers that died while they measured", outcome.deaths),
        ("workers that could not measure", outcome.broken),
        ("slow cells", outcome.slow),
        ("cells given to another worker", outcome.requeued),
        ("kills of the client", outcome.client_kills),
        ("results kept for a killed client", outcome.kept),
        ("cells that outlived a client and were adopted", outcome.adopted),
        ("**recorded**", outcome.recorded),
        ("**failed, since every worker died of them**", outcome.abandoned),
        ("**later rounds of failed cells, left out**", outcome.left_out),
        ("**lost**", outcome.lost),
        ("**finished twice**", outcome.measured_twice),
        ("**violations of the rules**", len(outcome.wrong)),
        ("simulated hours", f"{outcome.simulated_seconds / 3600:.2f}"),
        ("share of the hosts' time in cells", f"{_share(hosts, outcome):.2f}"),
    ]
    yield from table_lines(["of a simulated run", ""], [[name, _text(value)] for name, value in rows])


def _share(hosts: int, outcome: Outcome) -> float:
    return outcome.busy_seconds / (hosts * outcome.simulated_seconds)


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


@click.command
@click.option("--cells", type=click.IntRange(8), default=Setting.cells, show_default=True)
@click.option("--workers", type=click.IntRange(10), default=Setting.workers, show_default=True)
@click.option("--seed", type=int, default=Setting.seed, show_default=True)
def command(cells: int, workers: int, seed: int) -> None:
    """Simulate a run on a cluster whose workers die.

    The dispatcher is the one of real runs.

    Prints a Markdown table. There are two kinds of machines, and every tenth worker shares a host.
    2 % of the cells kill their worker, 3 % are slow, two cases kill every worker, and the client is
    killed four times. Times are simulated.

    \b
    Example:
      format-bench study schedule --cells 10000 --workers 500
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    setting = Setting(cells=cells, workers=workers, shared_hosts=workers // 10, seed=seed)
    start = time.process_time()
    outcome = Simulation(setting).run()
    click.echo("\n".join(lines(setting, outcome)))
    seconds = time.process_time() - start
    click.echo(f"\n{outcome.events:,} events in {seconds:.1f} seconds of CPU time.", err=True)
    if outcome.wrong or outcome.lost or outcome.measured_twice:
        what = "; ".join(outcome.wrong[:3]) or "cells were lost, or finished twice"
        raise ClusterError(f"the dispatcher broke its rules: {what}")
