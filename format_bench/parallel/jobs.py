"""Jobs of workers: tasks whose stages are measured on the worker, and their reports.

Each stage of a task has a wall time and a CPU time of the process; each task has the peak of the
worker's resident memory.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import add
from typing import Any, Generic, Protocol, Self, TypeVar

from adapter_core import FormatBenchError, UnsupportedError
from adapter_core.credentials import without_secrets
from adapter_core.errors import ParallelError
from format_bench.instruments import isolation, memory, threads
from format_bench.parallel.engine import ParallelEngine
from format_bench.results.status import CellStatus


class Digest(Protocol):
    """Digest of a part of the data; digests of parts can be added."""

    def __add__(self, other: Self, /) -> Self: ...


P = TypeVar("P")
D = TypeVar("D", bound=Digest)

# Labels of the adapters whose libraries this process has imported.
_WARM: set[str] = set()


@dataclass(frozen=True)
class Stage:
    """Measurement of one stage of a task on a worker."""

    name: str
    """"import", "make", "save", "read", "count" or "digest"."""
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class TaskReport(Generic[P, D]):
    """Result of a task on a worker."""

    number: int
    worker: str
    """Host and process of the worker."""
    stages: tuple[Stage, ...]
    peak_bytes: int
    """Peak of the resident memory of the worker during the task."""
    piece: P
    """Part of the data that was saved or read."""
    digest: D | None = None
    """Digest of the part, unless its rows were only counted."""
    rows: int = 0


@dataclass(frozen=True)
class Job(Generic[P, D]):
    """Result of a parallel save or read."""

    step: str
    """Stage that the job is about: "save", "read" or "count"."""
    workers: int
    wall_seconds: float
    """Wall time of the client, from the first task to the commit, making and verifying included."""
    client_seconds: float
    """Wall time of the client's own work: the commit, or the list of the partitions."""
    reports: tuple[TaskReport[P, D], ...] = field(repr=False)

    @property
    def seconds(self) -> float:
        """Time of the step alone, on the worker that spent most on it, and on the client."""
        return max(self._by_worker(self.step).values()) + self.client_seconds

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the step on all workers."""
        return sum(self.stage_times(self.step, "cpu_seconds"))

    @property
    def peak_bytes(self) -> int:
        """Peak of the resident memory of the largest worker."""
        return max(report.peak_bytes for report in self.reports)

    @property
    def rows(self) -> int:
        """Number of rows that were saved, read or counted."""
        return sum(report.rows for report in self.reports)

    @property
    def digest(self) -> D:
        """Digest of all data that were saved or read, added up from the parts' digests."""
        return reduce(add, (report.digest for report in self.reports if report.digest is not None))

    def stage_times(self, stage: str, what: str = "seconds") -> list[float]:
        """Return the wall or CPU time of a stage in each task."""
        return [
            float(getattr(each, what))
            for report in self.reports
            for each in report.stages
            if each.name == stage
        ]

    def _by_worker(self, stage: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for report in self.reports:
            spent = sum(each.seconds for each in report.stages if each.name == stage)
            found[report.worker] = found.get(report.worker, 0.0) + spent
        return found


def run_tasks(
    engine: ParallelEngine,
    function: Callable[..., TaskReport[P, D]],
    tasks: Sequence[tuple[Any, ...]],
) -> list[TaskReport[P, D]]:
    """Call a function with the parts of each task on the workers, and return the reports.

    Raises
    ------
    UnsupportedError
        If a format cannot do a task.
    ParallelError
        If a task failed, a worker died too often, or the engine failed.
    """
    outcomes = engine.map(_Guarded(function), tasks)
    for number, outcome in enumerate(outcomes):
        if outcome.status is CellStatus.UNSUPPORTED:
            raise UnsupportedError(outcome.sentence)
        if outcome.status:
            raise ParallelError(f"partition {number}: {without_secrets(outcome.sentence)}")
    return [outcome.value for outcome in outcomes]


def save_parts(  # noqa: PLR0913, PLR0917 (the parts, and their fate)
    engine: ParallelEngine,
    function: Callable[..., TaskReport[P, D]],
    tasks: Sequence[tuple[Any, ...]],
    commit: Callable[[list[P]], object],
    discard: Callable[[], object],
    started: float,
) -> Job[P, D]:
    """Save parts of the data on the workers, and commit them, or discard them after an error.

    The client's own work began at `started`, a value of `time.perf_counter`. Errors are as of
    `run_tasks`; one of the commit is a `ParallelError`.
    """
    try:
        created = time.perf_counter()
        reports = run_tasks(engine, function, tasks)
        committing = time.perf_counter()
        with as_one_error("the commit"):
            commit([report.piece for report in reports])
    except BaseException:
        with suppress(OSError):
            discard()
        raise
    end = time.perf_counter()
    client_seconds = created - started + end - committing
    return Job("save", engine.workers, end - started, client_seconds, tuple(reports))


def read_parts(
    engine: ParallelEngine,
    step: str,
    function: Callable[..., TaskReport[P, D]],
    parts: Callable[[], Sequence[P]],
    *arguments: object,
) -> Job[P, D]:
    """Call a function on the workers with the arguments and each part of saved data.

    Errors are as of `run_tasks`; one of the list of the parts is a `ParallelError`.
    """
    start = time.perf_counter()
    with as_one_error("the list of the parts"):
        found = parts()
    listed = time.perf_counter() - start
    reports = run_tasks(engine, function, [(*arguments, part) for part in found])
    return Job(step, engine.workers, time.perf_counter() - start, listed, tuple(reports))


@contextmanager
def as_one_error(what: str) -> Iterator[None]:
    """Raise the errors of libraries as `ParallelError`, without the credentials in their messages."""
    try:
        yield
    except FormatBenchError:
        raise
    except Exception as error:
        reason = without_secrets(isolation.outcome_of(error).sentence)
        raise ParallelError(f"{what} failed: {reason}") from None


class _Guarded:
    """A function that returns its errors, which engines would wrap in their own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, task: tuple[Any, ...]) -> isolation.Outcome:
        """Call the function with the parts of a task."""
        try:
            _use_one_thread()
            return isolation.Outcome(self.function(*task))
        except Exception as error:
            return isolation.outcome_of(error)


@cache
def _use_one_thread() -> None:
    """Let libraries of this worker use one thread: there are as many workers as CPUs to use."""
    import pandas as pd  # noqa: F401 (threads.apply sets imported libraries only)
    import pyarrow as pa  # noqa: F401

    threads.apply("1", pinned=False)


class Watch:
    """Measurement of the stages of a task.

    Parameters
    ----------
    label : str
        Label of the adapter.
    warm_up : callable, optional
        Imports the adapter's libraries; called once in a process for each label, in a stage "import".
    """

    def __init__(self, label: str = "", warm_up: Callable[[], object] | None = None) -> None:
        self.stages: list[Stage] = []
        if warm_up is not None and label not in _WARM:
            _WARM.add(label)
            # A library that fails has its reason in the stages.
            with self("import"), suppress(Exception):
                warm_up()
        memory.reset_peak()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a block."""
        cpu, start = time.process_time(), time.perf_counter()
        yield
        self.stages.append(Stage(name, time.perf_counter() - start, time.process_time() - cpu))

    def report(self, number: int, rows: int, piece: P, found: D | None = None) -> TaskReport[P, D]:
        """Return the report of a task of this worker."""
        worker = f"{socket.gethostname()}:{os.getpid()}"
        stages = tuple(self.stages)
        return TaskReport(number, worker, stages, memory.peak_bytes(), piece, found, rows)
