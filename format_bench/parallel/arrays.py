"""Parallel saves and reads of arrays: the workers' part with a region, and the client's.

A worker makes the values of its region, saves them and returns their digest; or reads a region and
returns the digest of its values. The digest of each region goes into the manifest of a store that
has a file for each; it is made after the clock of the save.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core import ArraySource, ArrayStore, UnsupportedError
from adapter_core.array_description import Description
from adapter_core.partitioned_arrays import PartitionedArray, Region, regions_of
from data_generator import catalog
from data_generator.spec.spec import DEFAULT_SEED
from format_bench.instruments.touch import touch_array
from format_bench.parallel.engine import ParallelEngine
from format_bench.parallel.jobs import Job, TaskReport, Watch, as_one_error, read_parts, save_parts
from format_bench.verification.digests import ArrayDigest, array_digest

RegionReport = TaskReport[Region, ArrayDigest]
ArrayJob = Job[Region, ArrayDigest]


@dataclass(frozen=True)
class ArrayPlan:
    """A named array in regions of nearly equal size, a pure function of the plan."""

    dataset: str
    chunks: int
    """Number of chunks along the first axis."""
    partitions: int
    """Number of regions; there are fewer if a store writes longer runs of chunks."""
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= self.chunks:
            raise ValueError(f"{self.chunks:,} chunks cannot be in {self.partitions:,} regions")

    @property
    def rows(self) -> int:
        """Number of chunks, the size of an array in records."""
        return self.chunks

    @property
    def columns(self) -> int:
        """Number of dimensions, which records have in the place of columns."""
        return len(self.source().shape)

    def source(self) -> ArraySource:
        """Return the array, whose values are made when they are read."""
        return _source(self)


@cache
def _source(plan: ArrayPlan) -> ArraySource:
    # Kept by each worker: coordinates and real arrays are made once.
    found = catalog.array(plan.dataset, plan.chunks, plan.seed).array
    if found is None:
        raise AssertionError(f"{plan.dataset} is not an array")
    return found


def save_array(engine: ParallelEngine, store: ArrayStore, plan: ArrayPlan, path: Path) -> ArrayJob:
    """Make an array on the workers and save it there, one region a task; commit it at the end.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    store : ArrayStore
        The store.
    plan : ArrayPlan
        The array.
    path : Path
        Path of the array, on a file system that all workers see; it must not exist.

    Raises
    ------
    UnsupportedError
        If the store cannot keep the array, or changes its values. Nothing is left.
    ParallelError
        If something is at the path, a save there has not ended, a region could not be written, a worker
        died too often, or the engine failed. The regions of this save are removed.
    """
    if store.error is not None:
        raise UnsupportedError(f"{store.label} changes values, which digests cannot verify")
    array, source = store.partitioned(path), plan.source()
    regions = regions_of(source.shape[0], array.unit(Description.of(source)), plan.partitions)
    start = time.perf_counter()
    with as_one_error("making the array"):
        array.create(source)
    tasks = [(array, plan, region) for region in regions]
    return save_parts(engine, _save_region, tasks, array.commit, array.discard, start)


def read_array(engine: ParallelEngine, store: ArrayStore, path: Path, partitions: int) -> ArrayJob:
    """Read an array on the workers, one region a task; they return digests.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    store : ArrayStore
        The store.
    path : Path
        Path of the array.
    partitions : int
        Number of regions, as in `ArrayPlan`.

    Raises
    ------
    IncompleteError
        If the array was not committed, or lacks a file.
    ParallelError
        If a region could not be read, a worker died too often, or the engine failed.
    """
    array = store.partitioned(path)
    return read_parts(engine, "read", _read_region, lambda: array.regions(partitions), array)


def array_differences(saved: ArrayJob, read: ArrayJob) -> tuple[str, ...]:
    """Return the differences between an array and its round trip, region by region if they agree."""
    before, after = ({_place(report): report.digest for report in job.reports} for job in (saved, read))
    if before.keys() == after.keys():
        return tuple(
            f"rows {start} to {stop}: other values came back"
            for (start, stop), found in after.items()
            if found != before[start, stop]
        )
    return () if saved.digest == read.digest else ("other values came back",)


def region_differences(job: ArrayJob) -> tuple[str, ...]:
    """Return regions as `read_array` read them beside the digests in their manifest.

    Other values and other positions are found, and files that were exchanged or belong to another
    array; the values that were saved are not needed. Regions without digests have no differences.
    """
    return tuple(
        f"{report.piece.name}: other values, or another order"
        for report in job.reports
        if report.digest and report.piece.digest and report.piece.digest != report.digest.text
    )


def _place(report: RegionReport) -> tuple[int, int]:
    return report.piece.start, report.piece.stop


def _warm_up(like: PartitionedArray) -> None:
    """Save and read a tiny array, so that no measured stage imports a library."""
    import numpy as np

    source = ArraySource.of(np.zeros((2, 2, 2), np.float32), dims=("first", "second", "third"))
    with TemporaryDirectory() as folder:
        array = type(like)(Path(folder, f"warm{like.store.suffix}"), like.store)
        array.create(source)
        (region,) = regions_of(2, array.unit(Description.of(source)), 1)
        array.commit([array.write(region, source.read(region.selection(source.shape)))])
        array.read(array.regions(1)[0])


def _watch(array: PartitionedArray) -> Watch:
    return Watch(array.store.label, lambda: _warm_up(array))


def _save_region(array: PartitionedArray, plan: ArrayPlan, region: Region) -> RegionReport:
    watch = _watch(array)
    with watch("make"):
        source = plan.source()
        values = source.read(region.selection(source.shape))
    with watch("save"):
        written = array.write(region, values)
    with watch("digest"):
        found = array_digest(values, region.start)
    return watch.report(region.number, len(values), replace(written, digest=found.text), found)


def _read_region(array: PartitionedArray, region: Region) -> RegionReport:
    watch = _watch(array)
    with watch("read"):
        values = array.read(region)
        touch_array(values)
    with watch("digest"):
        found = array_digest(values, region.start)
    return watch.report(region.number, len(values), region, found)
