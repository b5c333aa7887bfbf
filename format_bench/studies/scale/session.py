"""Measurements of the studies of scale: jobs on workers, and the adapter alone on a stream."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
from adapter_core import UnsupportedError
from adapter_core.errors import FormatBenchError, UnavailableError
from format_bench.instruments import isolation, memory
from format_bench.parallel.tables import Plan, TableJob, count_parallel, read_parallel, save_parallel
from format_bench.results.status import WRONG, CellStatus
from format_bench.studies.scale.results import ALONE, LIMITED, ScaleRun
from format_bench.verification.digests import TableDigest, differences, digest

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.instruments.memory_limit import MemoryLimit
    from format_bench.parallel.engine import ParallelEngine

LIMIT_SECONDS = 1800.0
"""Wall time of a step of the adapter alone."""

_SAMPLE_ROWS = 10_000

COLUMNS_READ = 2
"""Number of columns of the step "two columns": the first of numbers, and the first of text if any."""


@dataclass(frozen=True)
class Cell:
    """A format and a table, on some workers."""

    label: str
    plan: Plan
    engine: str
    workers: int
    memory: str = ""

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
            **results,
        )


def on_workers(engine: ParallelEngine, cell: Cell, folder: Path) -> Iterator[ScaleRun]:
    """Save a table on workers, read it, read two columns, and count its rows; yield each step."""
    sample = cell.plan.sample()
    width = len(sample.columns)
    two = _two_columns(sample)
    path = folder / "table"
    saved: dict[str, Any] = {}

    def save(adapter: DataFormat) -> TableJob:
        job, pieces = save_parallel(engine, adapter, cell.plan, path)
        saved["digest"] = job.digest
        saved["size"] = sum(piece.size_bytes for piece in pieces)
        return job

    steps: dict[str, Callable[[DataFormat], TableJob]] = {
        "save": save,
        "read": lambda adapter: read_parallel(engine, adapter, path),
        "two columns": lambda adapter: read_parallel(engine, adapter, path, two),
        "count": lambda adapter: count_parallel(engine, adapter, path),
    }
    try:
        for step, call in steps.items():
            run = _measured(cell, step, width, call, saved)
            yield run
            if step == "save" and run.status:
                return
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _measured(
    cell: Cell, step: str, width: int, call: Callable[[DataFormat], TableJob], saved: dict[str, Any]
) -> ScaleRun:
    try:
        adapter = data_formats.get(cell.label)
        job = call(adapter)
        sentence = _verdict(job, saved["digest"], adapter)
    except UnavailableError as error:
        return cell.run(step, width, status=CellStatus.UNAVAILABLE, sentence=str(error))
    except UnsupportedError as error:
        return cell.run(step, width, status=CellStatus.UNSUPPORTED, sentence=str(error))
    except FormatBenchError as error:
        return cell.run(step, width, status=CellStatus.FAILED, sentence=str(error))
    run = cell.run(
        step,
        width,
        seconds=job.seconds,
        wall_seconds=job.wall_seconds,
        client_seconds=job.client_seconds,
        cpu_seconds=job.cpu_seconds,
        peak_bytes=job.peak_bytes,
        task_seconds=tuple(sum(each.seconds for each in report.stages) for report in job.reports),
        sentence=sentence,
    )
    if sentence.startswith(WRONG):
        return replace(run, status=CellStatus.FAILED)
    return replace(run, size_bytes=saved["size"]) if step == "save" else run


def _verdict(job: TableJob, saved: TableDigest, adapter: DataFormat) -> str:
    if job.step == "count":
        return "" if job.rows == saved.rows else f"{WRONG}{job.rows:,} rows instead of {saved.rows:,}"
    if job.step == "save":
        return ""
    found = differences(saved, job.digest, adapter.kept_digits)
    return WRONG + "; ".join(found[:3]) if found else "digests equal"


def _two_columns(df: pd.DataFrame) -> list[str]:
    """Return the names of a column of numbers and of another one, of text if there is one."""
    numbers = [name for name in df.columns if df[name].dtype.kind in "iuf"]
    others = [name for name in df.columns if df[name].dtype.kind not in "iufb"]
    return (numbers[:1] + others[:1] + numbers[1:] + others[1:])[:COLUMNS_READ]


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
            found = differences(saved, done.value["digest"], adapter.kept_digits)
            status = CellStatus.FAILED if found else ""
            run = replace(
                run, status=status, sentence=WRONG + "; ".join(found[:3]) if found else "digests equal"
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


def _save_stream(cell: Cell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Save the partitions as a stream; runs in a process of its own."""
    prepare(limit)
    adapter = data_formats.get(cell.label)
    total = TableDigest()
    others = [0.0, 0.0]
    cpu, start = time.process_time(), time.perf_counter()

    def batches() -> Iterator[pd.DataFrame]:
        nonlocal total
        for number in range(cell.plan.partitions):
            cpu_before, before = time.process_time(), time.perf_counter()
            df = cell.plan.partition(number)
            total += digest(df)
            others[0] += time.perf_counter() - before
            others[1] += time.process_time() - cpu_before
            yield df

    adapter.save_batches(batches(), path)
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return {
        "digest": total,
        "seconds": max(0.0, wall - others[0]),
        "wall_seconds": wall,
        "cpu_seconds": max(0.0, used - others[1]),
        "peak_bytes": memory.peak_bytes(),
        "size_bytes": adapter.size_bytes(path),
    }


def _read_stream(cell: Cell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Read a table in batches, and return its digest; runs in a process of its own."""
    prepare(limit)
    adapter = data_formats.get(cell.label)
    total = TableDigest()
    others = [0.0, 0.0]
    cpu, start = time.process_time(), time.perf_counter()
    for df in adapter.iterate(path):
        cpu_before, before = time.process_time(), time.perf_counter()
        total += digest(df)
        others[0] += time.perf_counter() - before
        others[1] += time.process_time() - cpu_before
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return {
        "digest": total,
        "seconds": wall - others[0],
        "wall_seconds": wall,
        "cpu_seconds": used - others[1],
        "peak_bytes": memory.peak_bytes(),
    }


def prepare(limit: MemoryLimit | None) -> None:
    """Put this process under a limit, if there is one, and forget its peak of memory."""
    memory.reset_peak()
    if limit is not None:
        limit.enter()


def alone_cell(label: str, plan: Plan, memory_limit: str = "") -> Cell:
    """Return the cell of an adapter without an engine."""
    return Cell(label, plan, LIMITED if memory_limit else ALONE, 1, memory_limit)
