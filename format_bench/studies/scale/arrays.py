"""Measurements of the studies of scale on arrays: jobs on workers, and the store alone on a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import array_stores
from adapter_core.errors import FormatBenchError, UnavailableError
from adapter_core.partitioned_arrays import regions_of
from format_bench.instruments import isolation
from format_bench.instruments.touch import touch_array
from format_bench.parallel.arrays import (
    ArrayJob,
    ArrayPlan,
    array_differences,
    read_array,
    region_differences,
    save_array,
)
from format_bench.parallel.trials import VERIFIED
from format_bench.results.status import WRONG, CellStatus
from format_bench.studies.scale.results import ALONE, ARRAYS, LIMITED, ScaleRun
from format_bench.studies.scale.session import LIMIT_SECONDS, StepClock, facts_of, of_outcome, prepare
from format_bench.verification.digests import ArrayDigest, array_digest

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayStore
    from adapter_core.array_source import Selection
    from format_bench.instruments.memory_limit import MemoryLimit
    from format_bench.parallel.engine import ParallelEngine


@dataclass(frozen=True)
class ArrayCell:
    """A store and an array, on some workers."""

    label: str
    plan: ArrayPlan
    engine: str
    workers: int
    memory: str = ""

    def run(self, step: str, **results: Any) -> ScaleRun:
        """Return the result of a step; an array counts its dimensions as columns."""
        plan = self.plan
        return ScaleRun(
            **{
                "engine": self.engine,
                "workers": self.workers,
                "format": self.label,
                "dataset": plan.dataset,
                "rows": plan.chunks,
                "columns": len(plan.source().shape),
                "partitions": plan.partitions,
                "step": step,
                "memory": self.memory,
                "family": ARRAYS,
                **results,
            }
        )


def alone_array_cell(label: str, plan: ArrayPlan, memory_limit: str = "") -> ArrayCell:
    """Return the cell of a store without an engine."""
    return ArrayCell(label, plan, LIMITED if memory_limit else ALONE, 1, memory_limit)


def arrays_on_workers(engine: ParallelEngine, cell: ArrayCell, folder: Path) -> Iterator[ScaleRun]:
    """Save an array on workers and read it; yield each step."""
    path = folder / "array"
    saved: list[ArrayJob] = []

    def save(store: ArrayStore) -> ArrayJob:
        saved.append(save_array(engine, store, cell.plan, path))
        return saved[0]

    def read(store: ArrayStore) -> ArrayJob:
        return read_array(engine, store, path, cell.plan.partitions)

    try:
        run = _measured(cell, save)
        if not run.status:
            run = replace(run, size_bytes=array_stores.find(cell.label).size_bytes(path))
        yield run
        if run.status:
            return
        yield _measured(cell, read, saved[0])
    finally:
        array_stores.find(cell.label).remove(path)


def _measured(
    cell: ArrayCell, call: Callable[[ArrayStore], ArrayJob], saved: ArrayJob | None = None
) -> ScaleRun:
    """Return the result of a save, or of a read that is compared with the save."""
    step = "read" if saved else "save"
    try:
        job = call(array_stores.get(cell.label))
    except FormatBenchError as error:
        return cell.run(step, status=isolation.status_of(error), sentence=str(error))
    run = cell.run(
        step,
        # A store writes at least a chunk, or a shard, at a time.
        partitions=len(job.reports),
        **facts_of(job),
    )
    return _verified(run, array_differences(saved, job) or region_differences(job)) if saved else run


def _verified(run: ScaleRun, differences: tuple[str, ...]) -> ScaleRun:
    if differences:
        sentence = WRONG + "; ".join(differences[:3])
        return replace(run, status=CellStatus.FAILED, sentence=sentence)
    return replace(run, sentence=VERIFIED)


def array_alone(cell: ArrayCell, folder: Path, limit: MemoryLimit | None = None) -> Iterator[ScaleRun]:
    """Save an array chunk by chunk in one process, and read it region by region in another.

    Parameters
    ----------
    cell : ArrayCell
        The cell, without an engine.
    folder : Path
        Folder of the measured file.
    limit : MemoryLimit, optional
        Limit of the memory of both processes.
    """
    try:
        store = array_stores.get(cell.label)
    except UnavailableError as error:
        yield cell.run("save", status=CellStatus.UNAVAILABLE, sentence=str(error))
        return
    if store.error is not None:
        reason = f"{cell.label} changes values, which digests cannot verify"
        yield cell.run("save", status=CellStatus.UNSUPPORTED, sentence=reason)
        return
    path = folder / f"alone{store.suffix}"
    try:
        done = isolation.run(_save_chunks, cell, path, limit, limit_seconds=LIMIT_SECONDS)
        yield of_outcome(partial(cell.run, "save"), done, limit)
        if done.status:
            return
        saved: ArrayDigest = done.value["digest"]
        done = isolation.run(_read_regions, cell, path, limit, limit_seconds=LIMIT_SECONDS)
        run = of_outcome(partial(cell.run, "read"), done, limit)
        if not done.status:
            run = _verified(run, () if done.value["digest"] == saved else ("other values came back",))
        yield run
    finally:
        store.remove(path)


def _save_chunks(cell: ArrayCell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Save an array chunk by chunk; runs in a process of its own."""
    prepare(limit)
    store, source = array_stores.get(cell.label), cell.plan.source()
    total = ArrayDigest(0, 0)
    clock = StepClock()

    def read(selection: Selection) -> np.ndarray:
        nonlocal total
        with clock.paused():
            values = source.read(selection)
            total += array_digest(values, selection[0].start)
        return values

    store.save(replace(source, read=read), path)
    return {**clock.results(), "digest": total, "size_bytes": store.size_bytes(path)}


def _read_regions(cell: ArrayCell, path: Path, limit: MemoryLimit | None) -> dict[str, Any]:
    """Read an array region by region, and return its digest; runs in a process of its own."""
    prepare(limit)
    store = array_stores.get(cell.label)
    total = ArrayDigest(0, 0)
    clock = StepClock()
    with store.open(path) as reader:
        unit = store.partitioned(path).unit(reader.description)
        for region in regions_of(reader.shape[0], unit, cell.plan.partitions):
            values = reader.read((slice(region.start, region.stop),))
            touch_array(values)
            with clock.paused():
                total += array_digest(values, region.start)
    return {**clock.results(), "digest": total}
