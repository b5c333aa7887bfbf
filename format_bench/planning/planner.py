"""Planner of a store and a chunk shape for a user's mix of queries."""

from __future__ import annotations

import math
import os
import shutil
from typing import TYPE_CHECKING

import array_stores
from adapter_core.errors import InvalidFolderError, NoCandidateError
from format_bench.planning.chunk_plan import ChunkPlan
from format_bench.planning.mix import read_mix
from format_bench.planning.reads import by
from format_bench.planning.sample import describe, sample_edges, store_sample
from format_bench.planning.session import MOST_VERIFIED, PlanRequest, PlanSession, Watch
from format_bench.results.display.text import plural
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget
from format_bench.runner.reading_display import ReadingLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STORES = ("HDF5", "NetCDF4", "Zarr.dir", "Zarr.sharded", "Zarr[tensorstore]", "TileDB", "Blosc2")
"""Stores that are compared unless others are named: their chunks can be chosen, and parts be read."""

SAMPLE_BYTES_PER_SECOND, LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES = 4_000_000, 4_000_000, 1_000_000_000
"""Default size of the sample: so many bytes for each second that a store gets, within bounds."""


def plan(request: PlanRequest, watch: Watch) -> ChunkPlan:
    """Return the measured stores and chunk shapes for a user's mix of queries.

    Parameters
    ----------
    request : PlanRequest
        The mix, the array, the stores and the budget.
    watch : callable
        Receives sentences on the progress.

    Raises
    ------
    InvalidMixError
        If the mix is not one of queries to the array.
    NoCandidateError
        If no store can be measured.
    FormatBenchError
        If the array cannot be read, or the store is unknown.
    """
    budget = TimeBudget(request.budget_seconds)
    labels = _labels(request.stores)
    with folders.make(folders.check_scratch(request.scratch)) as folder:
        reading = ReadingLines(request.origin.path or "", watch)
        array = describe(request.origin, reading, watch)
        mix = read_mix(request.mix, array)
        value_bytes = array.dtype.itemsize
        sample_bytes = request.sample_bytes or _sample_bytes(request, labels)
        edges = sample_edges(array.shape, mix, value_bytes, sample_bytes)
        size = math.prod(edges) * value_bytes
        _check_room(folder, size, labels)
        watch(f"sample of {by(edges)} out of {by(array.shape)}, {size / 1e6:,.0f} MB")
        sample = store_sample(request.origin, edges, folder / "sample.npy", reading)
        session = PlanSession(request, array, mix, sample, folder, budget, watch)
        stores = [session.chosen(label) for label in labels]
        session.fit_models(stores)
        session.choose(stores)
        turns = session.verify(stores)
    found = ChunkPlan(
        array, sample.description, mix, stores, request.cold, request.codec, request.level, turns,
        budget.elapsed_seconds, os.getloadavg()[0],
    )  # fmt: skip
    if not found.ranked:
        reasons = "; ".join(f"{each.label}: {each.failure}" for each in stores if each.failure)
        raise NoCandidateError(f"no store could be measured: {reasons}")
    return found


def _labels(wanted: tuple[str, ...]) -> list[str]:
    known = array_stores.names()
    if not wanted:
        return [label for label in STORES if label in known]
    for label in wanted:
        array_stores.find(label)
    return list(dict.fromkeys(wanted))


def _sample_bytes(request: PlanRequest, labels: Sequence[str]) -> float:
    wanted = SAMPLE_BYTES_PER_SECOND * request.budget_seconds / len(labels)
    return min(MOST_SAMPLE_BYTES, max(LEAST_SAMPLE_BYTES, wanted))


def _check_room(folder: Path, sample_bytes: int, labels: Sequence[str]) -> None:
    """Raise InvalidFolderError if a folder has no room for the sample and all verified files."""
    needed = sample_bytes * (1 + MOST_VERIFIED * len(labels))
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InvalidFolderError(
            f"{folder.parent} has {free / 1e9:,.1f} GB left, and {plural(len(labels), 'store')} with a "
            f"sample of {sample_bytes / 1e6:,.0f} MB may need {needed / 1e9:,.1f} GB; choose a smaller "
            "--sample-size, fewer --stores or another --scratch"
        )
