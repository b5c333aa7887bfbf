"""Cells of the studies of scale: jobs on workers, and the adapter alone on a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import array_stores
import data_formats
from adapter_core.errors import UnavailableError
from adapter_core.partial_reads import BATCH_ROWS
from adapter_core.partitioned_arrays import regions_of
from format_bench.instruments import isolation, memory
from format_bench.instruments.touch import touch, touch_array
from format_bench.parallel.arrays import ArrayPlan
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import LOCAL, VERIFIED, trial
from format_bench.results.status import WRONG, CellStatus
from format_bench.studies.scale.scale_run import ALONE, ARRAYS, LIMITED, TABLES, ScaleRun
from format_bench.verification.digests import ArrayDigest, TableDigest, array_digest, differences, digest

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core import RemoteFile
    from adapter_core.array_source import Selection
    from format_bench.instruments.memory_limit import MemoryLimit
    from format_bench.parallel.engine import ParallelEngine

# Wall time of a step of the adapter alone.
LIMIT_SECONDS = 1800.0

# Enough for the mean width of texts, and made in a moment.
_SAMPLE_ROWS = 10_000


@dataclass(frozen=True)
class Cell:
    """A format and a table, or a store and an array, on some workers."""

    label: str
    plan: Plan | ArrayPlan
    engine: str = ALONE
    workers: int = 1
    memory: str = ""
    medium: str = LOCAL

    @property
    def adapter(self) -> Any:
        """The adapter, whose libraries are imported.

        Raises
        ------
        UnavailableError
            If a package is missing.
        """
        registry = array_stores if isinstance(self.plan, ArrayPlan) else data_formats
        return registry.get(self.label)

    @property
    def facts(self) -> dict[str, Any]:
        """Fields of its results that identify it."""
        of_arrays = isinstance(self.plan, ArrayPlan)
        # A store of arrays may make fewer regions than planned.
        spread = {} if of_arrays else {"partitions": self.plan.partitions}
        return {
            **spread,
            "engine": self.engine,
            "workers": self.workers,
            "format": self.label,
            "dataset": self.plan.dataset,
            "rows": self.plan.rows,
            "memory": self.memory,
            "medium": self.medium,
            "family": ARRAYS if of_arrays else TABLES,
        }

    def run(self, step: str, **results: Any) -> ScaleRun:
        """Return the result of a step."""
        own = {"columns": self.plan.columns, "partitions": self.plan.partitions, "step": step}
        return ScaleRun(**{**self.facts, **own, **results})


def on_workers(engine: ParallelEngine, cell: Cell, place: Path | RemoteFile) -> Iterator[ScaleRun]:
    """Save a table on workers, read it, read two columns, and count its rows; save and read an array.

    Yields each step. A store of arrays writes at least a chunk, or a shard, at a time.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    cell : Cell
        The format and the table.
    place : Path or RemoteFile
        Folder of the table, or path of the array, where nothing may be; it is removed at the end.
    """
    partitions = cell.plan.partitions
    for each in trial(engine, cell.label, cell.plan, place):
        status = "" if each.status is CellStatus.VALUE else each.status
        # A step without a value is of as many as the save before it.
        partitions = len(each.task_seconds) or partitions
        yield cell.run(**asdict(each) | {"status": status, "partitions": partitions})


def row_bytes(dataset: str) -> float:
    """Return the bytes of a row of a data set as a DataFrame, from a sample."""
    sample = Plan(dataset, _SAMPLE_ROWS, 1).partition(0)
    return float(sample.memory_usage(index=False, deep=True).sum()) / len(sample)


def limited_cell(label: str, plan: Plan | ArrayPlan, memory_limit: str) -> Cell:
    """Return the cell of an adapter without an engine, under a limit of memory."""
    return Cell(label, plan, LIMITED, memory=memory_limit)


def alone(cell: Cell, folder: Path, limit: MemoryLimit | None = None) -> Iterator[ScaleRun]:
    """Save the data part by part into one file in one process, and read it so in another; yield both.

    Partitions of a table are a stream, which is read in batches. An array is saved chunk by chunk, and
    read region by region.

    Parameters
    ----------
    cell : Cell
        The cell, without an engine.
    folder : Path
        Folder of the measured file.
    limit : MemoryLimit, optional
        Limit of the memory of both processes.
    """
    of_array = isinstance(cell.plan, ArrayPlan)
    try:
        adapter = cell.adapter
    except UnavailableError as error:
        yield cell.run("save", status=CellStatus.UNAVAILABLE, sentence=str(error))
        return
    if of_array and adapter.error is not None:
        reason = f"{cell.label} changes values, which digests cannot verify"
        yield cell.run("save", status=CellStatus.UNSUPPORTED, sentence=reason)
        return
    path = folder / f"alone{adapter.suffix}"
    try:
        done = _isolated(_save_chunks if of_array else _save_stream, cell, path, limit)
        yield _run_of(cell, "save", done, limit)
        if done.status:
            return
        saved = done.value["digest"]
        done = _isolated(_read_regions if of_array else _read_stream, cell, path, limit)
        run = _run_of(cell, "read", done, limit)
        if not done.status:
            read = done.value["digest"]
            wrong: tuple[str, ...] = () if read == saved else ("other values came back",)
            if not of_array:
                digits, decimals = adapter.kept
                wrong = differences(saved, read, digits, decimals, list(saved.columns))
            sentence = WRONG + "; ".join(wrong[:3]) if wrong else VERIFIED
            run = replace(run, status=CellStatus.FAILED if wrong else "", sentence=sentence)
        yield run
    finally:
        adapter.remove(path)


def _isolated(
    step: Callable[[Cell, Path], dict[str, Any]], cell: Cell, path: Path, limit: MemoryLimit | None
) -> isolation.Outcome:
    entered = limit.enter if limit else None
    return isolation.run(step, cell, path, limit_seconds=LIMIT_SECONDS, entered=entered)


def _run_of(cell: Cell, step: str, done: isolation.Outcome, limit: MemoryLimit | None) -> ScaleRun:
    """Return the result of a step in a process of its own."""
    if done.status:
        sentence = done.sentence
        if limit is not None and "SIGKILL" in sentence:
            sentence = f"killed at the limit of {limit.limit_bytes:,} bytes by {limit.method}"
        return cell.run(step, status=done.status, sentence=sentence)
    return cell.run(step, **{name: value for name, value in done.value.items() if name != "digest"})


class StepClock:
    """Clock of a step, without the time of making and verifying values; it starts when it is made."""

    def __init__(self) -> None:
        self._paused_seconds = self._paused_cpu_seconds = 0.0
        # The peak is that of the step, not of what the process has inherited.
        memory.reset_peak()
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


def _save_stream(cell: Cell, path: Path) -> dict[str, Any]:
    adapter, plan = cell.adapter, cast("Plan", cell.plan)
    total, clock = TableDigest(), StepClock()

    def batches() -> Iterator[pd.DataFrame]:
        nonlocal total
        for number in range(plan.partitions):
            with clock.paused():
                df = plan.partition(number)
                total += digest(df)
            yield df

    adapter.save_batches(batches(), path)
    return {**clock.results(), "digest": total, "size_bytes": adapter.size_bytes(path)}


def _read_stream(cell: Cell, path: Path) -> dict[str, Any]:
    adapter = cell.adapter
    total, clock = TableDigest(), StepClock()
    batch_rows = min(BATCH_ROWS, -(-cell.plan.rows // cell.plan.partitions))
    for df in adapter.iterate(path, batch_rows=batch_rows):
        touch(df)
        with clock.paused():
            total += digest(df)
    return {**clock.results(), "digest": total}


def _save_chunks(cell: Cell, path: Path) -> dict[str, Any]:
    store, source = cell.adapter, cast("ArrayPlan", cell.plan).source()
    total, clock = ArrayDigest(0, 0), StepClock()

    def read(selection: Selection) -> np.ndarray:
        nonlocal total
        with clock.paused():
            values = source.read(selection)
            total += array_digest(values, selection[0].start)
        return values

    store.save(replace(source, read=read), path)
    return {**clock.results(), "digest": total, "size_bytes": store.size_bytes(path)}


def _read_regions(cell: Cell, path: Path) -> dict[str, Any]:
    store = cell.adapter
    total, clock = ArrayDigest(0, 0), StepClock()
    with store.open(path) as reader:
        unit = store.partitioned(path).unit(reader.description)
        for region in regions_of(reader.shape[0], unit, cell.plan.partitions):
            values = reader.read((slice(region.start, region.stop),))
            touch_array(values)
            with clock.paused():
                total += array_digest(values, region.start)
    return {**clock.results(), "digest": total}
