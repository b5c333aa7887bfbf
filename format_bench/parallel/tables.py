"""Parallel saves and reads of tables: what workers do with a partition, and what the client does.

A worker makes the rows of its partition, saves them and returns their digest; or reads a partition and
returns the digest of what came back. Each stage of a task is measured on the worker, with wall time, CPU
time of the process, and the peak of its resident memory.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import PartitionedTable, Piece, UnsupportedError
from adapter_core.errors import ParallelError
from data_generator import catalog
from data_generator.spec.spec import DEFAULT_SEED
from format_bench.instruments import isolation, memory, threads
from format_bench.results.status import CellStatus
from format_bench.verification.digests import TableDigest, digest

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.parallel.engine import ParallelEngine

_SAMPLE_ROWS = 100


@dataclass(frozen=True)
class Plan:
    """A named table in partitions of nearly equal size, each a pure function of plan and number."""

    dataset: str
    rows: int
    partitions: int
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= max(1, self.rows):
            raise ValueError(f"{self.rows:,} rows cannot be in {self.partitions:,} partitions")

    def partition(self, number: int) -> pd.DataFrame:
        """Return the rows of a partition, as `data_generator.catalog.partition` makes them."""
        return catalog.partition(self.dataset, number, self.partitions, self.rows, self.seed)

    def sample(self) -> pd.DataFrame:
        """Return a few rows with the columns of the table."""
        return catalog.partition(self.dataset, 0, 1, min(self.rows, _SAMPLE_ROWS), self.seed)


@dataclass(frozen=True)
class Stage:
    """Measurement of one stage of a task on a worker."""

    name: str
    """"make", "save", "read", "count" or "digest"."""
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class TaskReport:
    """Result of a task on a worker."""

    number: int
    worker: str
    """Host and process of the worker."""
    stages: tuple[Stage, ...]
    peak_bytes: int
    """Peak of the resident memory of the worker during the task."""
    piece: Piece | None = None
    digest: TableDigest | None = None
    rows: int = 0


@dataclass(frozen=True)
class Job:
    """Result of a parallel save or read."""

    step: str
    """Stage that the job is about: "save", "read" or "count"."""
    workers: int
    wall_seconds: float
    """Wall time of the client, from the first task to the commit, making and verifying included."""
    client_seconds: float
    """Wall time of the client's own work: the commit, or the list of the partitions."""
    reports: tuple[TaskReport, ...] = field(repr=False)

    @property
    def seconds(self) -> float:
        """Time of the step alone: that of the worker that spent most on it, and the client's."""
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
    def digest(self) -> TableDigest:
        """Digest of the table, added up from those of the partitions."""
        return reduce(add, (report.digest for report in self.reports if report.digest), TableDigest())

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


def save_parallel(
    engine: ParallelEngine, adapter: DataFormat, plan: Plan, path: Path
) -> tuple[Job, list[Piece]]:
    """Make a table on the workers and save it there, one partition a task; commit it at the end.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    adapter : DataFormat
        The format.
    plan : Plan
        The table.
    path : Path
        Folder of the table, on a file system that all workers see; it must not exist.

    Raises
    ------
    FileExistsError
        If something is at the path.
    UnsupportedError
        If the format cannot store a partition. The parts are removed.
    ParallelError
        If a partition could not be written, a worker died too often, or the engine failed. The parts
        are removed.
    """
    table = adapter.partitioned(path)
    table.create()
    start = time.perf_counter()
    try:
        tasks = [(table, plan, number) for number in range(plan.partitions)]
        reports = _all(engine, _save_partition, tasks)
        committing = time.perf_counter()
        pieces = [report.piece for report in reports if report.piece]
        table.commit(pieces)
    except BaseException:
        table.remove()
        raise
    end = time.perf_counter()
    return Job("save", engine.workers, end - start, end - committing, tuple(reports)), pieces


def read_parallel(
    engine: ParallelEngine, adapter: DataFormat, path: Path, columns: Sequence[str] | None = None
) -> Job:
    """Read a table on the workers, one partition a task; they return digests.

    Raises
    ------
    IncompleteTableError
        If the table was not committed, or lacks a part.
    UnsupportedError
        If columns are given, and the format does not support column projection.
    ParallelError
        If a partition could not be read, a worker died too often, or the engine failed.
    """
    wanted = None if columns is None else list(columns)
    return _over_pieces(engine, adapter, path, "read", lambda table: (_read_partition, (table, wanted)))


def count_parallel(engine: ParallelEngine, adapter: DataFormat, path: Path) -> Job:
    """Count the rows of a table on the workers, one partition a task.

    Raises
    ------
    IncompleteTableError, ParallelError
        As `read_parallel`.
    """
    return _over_pieces(engine, adapter, path, "count", lambda table: (_count_partition, (table,)))


def _over_pieces(
    engine: ParallelEngine,
    adapter: DataFormat,
    path: Path,
    step: str,
    task_of: Callable[[PartitionedTable], tuple[Callable[..., TaskReport], tuple[Any, ...]]],
) -> Job:
    table = adapter.partitioned(path)
    start = time.perf_counter()
    pieces = table.pieces()
    listed = time.perf_counter() - start
    function, arguments = task_of(table)
    reports = _all(engine, function, [(*arguments, piece) for piece in pieces])
    return Job(step, engine.workers, time.perf_counter() - start, listed, tuple(reports))


def _all(
    engine: ParallelEngine, function: Callable[..., TaskReport], tasks: Sequence[tuple[Any, ...]]
) -> list[TaskReport]:
    """Return the reports of all tasks; raise the first failure."""
    outcomes = engine.map(_Guarded(function), tasks)
    for number, outcome in enumerate(outcomes):
        if outcome.status is CellStatus.UNSUPPORTED:
            raise UnsupportedError(outcome.sentence)
        if outcome.status:
            raise ParallelError(f"partition {number}: {outcome.sentence}")
    return [outcome.value for outcome in outcomes]


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


class _Watch:
    """Measurement of the stages of a task."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        memory.reset_peak()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a block."""
        cpu, start = time.process_time(), time.perf_counter()
        yield
        self.stages.append(Stage(name, time.perf_counter() - start, time.process_time() - cpu))

    def report(self, number: int, rows: int, **results: Any) -> TaskReport:
        """Return the report of a task of this worker."""
        worker = f"{socket.gethostname()}:{os.getpid()}"
        stages = tuple(self.stages)
        return TaskReport(number, worker, stages, memory.peak_bytes(), rows=rows, **results)


def _save_partition(table: PartitionedTable, plan: Plan, number: int) -> TaskReport:
    watch = _Watch()
    with watch("make"):
        df = plan.partition(number)
    with watch("save"):
        piece = table.write(number, df)
    with watch("digest"):
        found = digest(df)
    return watch.report(number, len(df), piece=piece, digest=found)


def _read_partition(table: PartitionedTable, columns: list[str] | None, piece: Piece) -> TaskReport:
    watch = _Watch()
    with watch("read"):
        df = table.read(piece, columns)
    with watch("digest"):
        found = digest(df)
    return watch.report(piece.number, len(df), digest=found)


def _count_partition(table: PartitionedTable, piece: Piece) -> TaskReport:
    watch = _Watch()
    with watch("count"):
        rows = table.count(piece)
    return watch.report(piece.number, rows)
