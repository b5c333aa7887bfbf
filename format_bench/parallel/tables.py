"""Parallel saves and reads of tables: the workers' part with a partition, and the client's.

A worker makes the rows of its partition, saves them and returns their digest; or reads a partition and
returns the digest of its rows. The digests of the columns of each partition go into the manifest
of part files; they are made after the clock of the save.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from adapter_core import DataFormat, PartitionedTable, Piece, RemoteFile
from data_generator import catalog
from data_generator.spec.spec import DEFAULT_SEED
from format_bench.instruments.touch import touch
from format_bench.parallel.jobs import Job, TaskReport, Watch, as_one_error, read_parts, save_parts
from format_bench.verification.digests import TableDigest, digest

if TYPE_CHECKING:
    import pandas as pd

    from format_bench.parallel.engine import ParallelEngine

# For names and types of columns alone.
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

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.sample().columns)

    def partition(self, number: int) -> pd.DataFrame:
        """Return the rows of a partition, as `data_generator.catalog.partition` makes them."""
        return catalog.partition(self.dataset, number, self.partitions, self.rows, self.seed)

    def sample(self) -> pd.DataFrame:
        """Return a few rows with the columns of the table."""
        return catalog.partition(self.dataset, 0, 1, min(self.rows, _SAMPLE_ROWS), self.seed)


TableReport = TaskReport[Piece, TableDigest]
TableJob = Job[Piece, TableDigest]


def save_parallel(
    engine: ParallelEngine, adapter: DataFormat, plan: Plan, place: Path | RemoteFile
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
    place : Path or RemoteFile
        Folder of the table, on a file system that all workers see, where nothing may be; or in an object
        store, whose credentials are in the environment of all workers.

    Raises
    ------
    UnsupportedError
        If the format cannot store a partition, or not in an object store. The parts are removed.
    ParallelError
        If something is there, a partition could not be written, a worker died too often, or the engine
        failed. The parts of this save are removed, unless the place cannot be reached any more.
    """
    table = table_at(place, adapter.without_check())
    with as_one_error("making the table"):
        table.create()
    tasks = [(table, plan, number) for number in range(plan.partitions)]
    job = save_parts(engine, _save_partition, tasks, table.commit, table.remove, time.perf_counter())
    return job, [report.piece for report in job.reports]


def read_parallel(
    engine: ParallelEngine,
    adapter: DataFormat,
    place: Path | RemoteFile,
    columns: Sequence[str] | None = None,
) -> TableJob:
    """Read a table on the workers, one partition a task; they return digests.

    Raises
    ------
    IncompleteError
        If the table was not committed, or lacks a part.
    UnsupportedError
        If columns are given, and the format does not support column projection.
    ParallelError
        If a partition could not be read, a worker died too often, or the engine failed.
    """
    table, wanted = table_at(place, adapter), None if columns is None else list(columns)
    return read_parts(engine, "read", _read_partition, table.pieces, table, wanted)


def count_parallel(engine: ParallelEngine, adapter: DataFormat, place: Path | RemoteFile) -> TableJob:
    """Count the rows of a table on the workers, one partition a task.

    Raises
    ------
    IncompleteError, ParallelError
        As `read_parallel`.
    """
    table = table_at(place, adapter)
    return read_parts(engine, "count", _count_partition, table.pieces, table)


def part_differences(job: TableJob) -> tuple[str, ...]:
    """Return partitions as `read_parallel` read them beside the digests in their manifest.

    Other values are found, another order of rows, and partitions that were exchanged or belong to
    another table; the rows that were saved are not needed. Partitions without digests, in
    formats with logs of their own and in manifests of version 1, have no differences.
    """
    found: list[str] = []
    for report in job.reports:
        kept, columns = report.piece.digests, report.digest.columns if report.digest else {}
        if report.rows != report.piece.rows:
            found.append(f"{report.piece.name}: {report.rows:,} rows instead of {report.piece.rows:,}")
            continue
        wrong = [name for name, column in columns.items() if kept.get(name, column.text) != column.text]
        if wrong:
            found.append(f"{report.piece.name}: column {wrong[0]}: other values, or another order")
    return tuple(found)


def table_at(place: Path | RemoteFile, adapter: DataFormat) -> PartitionedTable:
    """Return the table of a format in a folder, on a file system or in an object store."""
    if isinstance(place, RemoteFile):
        return adapter.partitioned_remote(place)
    return adapter.partitioned(place)


def _watch(table: PartitionedTable) -> Watch:
    """Return a watch; a first task saves and reads a tiny table, so that no stage imports a library."""
    adapter = table.adapter

    def warm_up() -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, f"warm{adapter.suffix}")
            adapter.save(catalog.table("eq", 8).df, path)
            adapter.read(path)

    return Watch(adapter.label, warm_up)


def _save_partition(table: PartitionedTable, plan: Plan, number: int) -> TableReport:
    watch = _watch(table)
    with watch("make"):
        df = plan.partition(number)
    # Made here rather than in the measured save.
    table.adapter.check(df)
    with watch("save"):
        piece = table.write(number, df)
    with watch("digest"):
        found = digest(df)
    report = watch.report(number, len(df), piece, found)
    if table.adapter.kept_digits is not None:
        # Digests of floats that the format rounds are those of what it keeps.
        del df
        found = digest(table.read(piece))
    digests = {name: column.text for name, column in found.columns.items()}
    return replace(report, piece=replace(piece, digests=digests))


def _read_partition(table: PartitionedTable, columns: list[str] | None, piece: Piece) -> TableReport:
    watch = _watch(table)
    with watch("read"):
        df = touch(table.read(piece, columns))
    with watch("digest"):
        found = digest(df)
    return watch.report(piece.number, len(df), piece, found)


def _count_partition(table: PartitionedTable, piece: Piece) -> TableReport:
    watch = _watch(table)
    with watch("count"):
        rows = table.count(piece)
    return watch.report(piece.number, rows, piece)
