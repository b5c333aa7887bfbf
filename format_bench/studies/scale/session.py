"""Measurements of the studies of scale: jobs on workers, and the adapter alone on a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
from adapter_core.data_format import BATCH_ROWS
from adapter_core.errors import UnavailableError
from format_bench.instruments import isolation, memory
from format_bench.instruments.touch import touch
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import LOCAL, VERIFIED, trial
from format_bench.results.status import WRONG, CellStatus
from format_bench.studies.scale.results import ALONE, LIMITED, ScaleRun
from format_bench.verification.digests import TableDigest, differences, digest

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import RemoteFile
    from format_bench.instruments.memory_limit import MemoryLimit
    from format_bench.parallel.engine import ParallelEngine
    from format_bench.parallel.jobs import Job

LIMIT_SECONDS = 1800.0
"""Wall time of a step of the adapter alone."""

_SAMPLE_ROWS = 10_000


@dataclass(frozen=True)
class Cell:
    """A format and a table, on some workers."""

    label: str
    plan: Plan
    engine: str
    workers: int
    memory: str = ""
    medium: str = LOCAL

    def run(self, step: str, columns: int, **results: Any) -> ScaleRun:
        """Return the result of a step."""
        plan = self.plan
        return ScaleRun(
            engine=self.engine,
            workers=self.workers,
            format=self.label,
            dataset=plan.dataset,
            rows=plan.rows,
            columns=columns,
            partitions=plan.partitions,
            step=step,
            memory=self.memory,
            medium=self.medium,
            **results,
        )


def on_workers(engine: ParallelEngine, cell: Cell, place: Path | RemoteFile) -> Iterator[ScaleRun]:
    """Save a table on workers, read it, read two columns, and count its rows; yield each step.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    cell : Cell
        The format and the table.
    place : Path or RemoteFile
        Folder of the table, where nothing may be; it is removed at the end.
    """
    width = len(cell.plan.sample().columns)
    for found in trial(engine, cell.label, cell.plan, place):
        if found.job is None:
            yield cell.run(
                found.step, width, status=found.status or CellStatus.FAILED, sentence=found.sentence
            )
            continue
        results = facts_of(found.job)
        yield cell.run(
            found.step, width, size_bytes=found.size_bytes, sentence=found.sentence, **results
        )


def facts_of(job: Job[Any, Any]) -> dict[str, Any]:
    """Return the fields of a result that come from a job on workers."""
    return {
        "seconds": job.seconds,
        "wall_seconds": job.wall_seconds,
        "client_seconds": job.client_seconds,
        "cpu_seconds": job.cpu_seconds,
        "peak_bytes": job.peak_bytes,
        "task_seconds": tuple(sum(each.seconds for each in report.stages) for report in job.reports),
    }


def row_bytes(dataset: str) -> float:
    """Return the bytes of a row of a data set as a DataFrame, from a sample."""
    sample = Plan(dataset, _SAMPLE_ROWS, 1).partition(0)
    return float(sample.memory_usage(index=False, deep=True).sum()) / len(sample)


def alone(cell: Cell, folder: Path, limit: MemoryLimit | None = None) -> Iterator[ScaleRun]:
    """Save the partitions as a stream into one file, and read it in batches; yield both steps.

    Each step has a process of its own, under a limit if one is given.
    """
    width = len(cell.plan.sample().columns)
    try:
        adapter = data_formats.get(cell.label)
    except UnavailableError as error:
        yield cell.run("save", width, status=CellStatus.UNAVAILABLE, sentence=str(error))
        return
    path = folder / f"alone{adapter.suffix}"
    try:
        done = isolation.run(_save_stream, cell, path, limit, limit_seconds=LIMIT_SECONDS)
        yield of_outcome(partial(cell.run, "save", width), done, limit)
        if done.status:
            return
        saved = done.value["digest"]
        done = isolation.run(_read_stream, cell, path, limit, limit_seconds=LIMIT_SECONDS)
        run = of_outcome(partial(cell.run, "read", width), done, limit)
        if not done.status:
            kept = adapter.kept
            found = differences(saved, done.value["digest"], *kept, list(saved.columns))
            status = CellStatus.FAILED if found else ""
            run = replace(
                run, status=status, sentence=WRONG + "; ".join(found[:3]) if found else VERIFIED
            )
        yield run
    finally:
        adapter.remove(path)


def of_outcome(
    run: Callable[..., ScaleRun], done: isolation.Outcome, limit: MemoryLimit | None
) -> ScaleRun:
    """Return the result of a step in a process of its own, made by a function of its fields."""
    if done.status:
        sentence = done.sentence
        if limit is not None and "SIGKILL" in sentence:
            sentence = f"killed at the limit of {limit.limit_bytes:,} bytes by {limit.method}"
        return run(status=done.status, sentence=sentence)
    facts = {name: value for name, value in done.value.items() if name != "digest"}
    return run(**facts)


class StepClock:
    """Clock of a step, without the time of making and verifying values; it starts when it is made."""

    def __init__(self) -> None:
        self._paused_seconds = self._paused_cpu_seconds = 0.0
        self._cpu, self._start = time.process_time(), time.perf_counter()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out the time of a block."""
        cpu, start = time.process_time(), time.perf_counter()
        yield
        self._paused_seconds += time.perf_counter() - start
        self._paused_cpu_seconds += time.process_time() - cpu

    def results(self) -> dict[str, Any]:
        """Return the times of the step, which has ended now, and the peak of the memory."""
        wall, cpu = time.perf_counter() - self._start, time.process_time() - self._cpu
        return {
            "seconds": max(0.0, wall - self._paused_seconds),
            "wall_seconds": wall,
            "cpu_seconds": max(0.0, cpu - self._paused_cpu_seconds),
            "peak_bytes": memory.peak_bytes(),
        }


def _save_stream(cell: Cell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Save the partitions as a stream; runs in a process of its own."""
    prepare(limit)
    adapter = data_formats.get(cell.label)
    total = TableDigest()
    clock = StepClock()

    def batches() -> Iterator[pd.DataFrame]:
        nonlocal total
        for number in range(cell.plan.partitions):
            with clock.paused():
                df = cell.plan.partition(number)
                total += digest(df)
            yield df

    adapter.save_batches(batches(), path)
    return {**clock.results(), "digest": total, "size_bytes": adapter.size_bytes(path)}


def _read_stream(cell: Cell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Read a table in batches, and return its digest; runs in a process of its own."""
    prepare(limit)
    adapter = data_formats.get(cell.label)
    total = TableDigest()
    clock = StepClock()
    batch_rows = min(BATCH_ROWS, -(-cell.plan.rows // cell.plan.partitions))
    for df in adapter.iterate(path, batch_rows=batch_rows):
        touch(df)
        with clock.paused():
            total += digest(df)
    return {**clock.results(), "digest": total}


def prepare(limit: MemoryLimit | None) -> None:
    """Put this process under a limit, if there is one, and forget its peak of memory."""
    memory.reset_peak()
    if limit is not None:
        limit.enter()


def alone_cell(label: str, plan: Plan, memory_limit: str = "") -> Cell:
    """Return the cell of an adapter without an engine."""
    return Cell(label, plan, LIMITED if memory_limit else ALONE, 1, memory_limit)
