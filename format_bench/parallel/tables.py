"""Parallel saves and reads of tables: what workers do with a partition, and what the client does.

A worker makes the rows of its partition, saves them and returns their digest; or reads a partition and
returns the digest of what came back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import PartitionedTable, Piece
from data_generator import catalog
from data_generator.spec.spec import DEFAULT_SEED
from format_bench.parallel.jobs import Job, TaskReport, Watch, run_tasks
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


TableReport = TaskReport[Piece, TableDigest]
TableJob = Job[Piece, TableDigest]


def save_parallel(
    engine: ParallelEngine, adapter: DataFormat, plan: Plan, path: Path
) -> tuple[TableJob, list[Piece]]:
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
        reports = run_tasks(engine, _save_partition, tasks)
        committing = time.perf_counter()
        pieces = [report.piece for report in reports]
        table.commit(pieces)
    except BaseException:
        table.remove()
        raise
    end = time.perf_counter()
    return Job("save", engine.workers, end - start, end - committing, tuple(reports)), pieces


def read_parallel(
    engine: ParallelEngine, adapter: DataFormat, path: Path, columns: Sequence[str] | None = None
) -> TableJob:
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


def count_parallel(engine: ParallelEngine, adapter: DataFormat, path: Path) -> TableJob:
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
    task_of: Callable[[PartitionedTable], tuple[Callable[..., TableReport], tuple[Any, ...]]],
) -> TableJob:
    table = adapter.partitioned(path)
    start = time.perf_counter()
    pieces = table.pieces()
    listed = time.perf_counter() - start
    function, arguments = task_of(table)
    reports = run_tasks(engine, function, [(*arguments, piece) for piece in pieces])
    return Job(step, engine.workers, time.perf_counter() - start, listed, tuple(reports))


def _save_partition(table: PartitionedTable, plan: Plan, number: int) -> TableReport:
    watch = Watch()
    with watch("make"):
        df = plan.partition(number)
    with watch("save"):
        piece = table.write(number, df)
    with watch("digest"):
        found = digest(df)
    return watch.report(number, len(df), piece, found)


def _read_partition(table: PartitionedTable, columns: list[str] | None, piece: Piece) -> TableReport:
    watch = Watch()
    with watch("read"):
        df = table.read(piece, columns)
    with watch("digest"):
        found = digest(df)
    return watch.report(piece.number, len(df), piece, found)


def _count_partition(table: PartitionedTable, piece: Piece) -> TableReport:
    watch = Watch()
    with watch("count"):
        rows = table.count(piece)
    return watch.report(piece.number, rows, piece)
