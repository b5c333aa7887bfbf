"""Instruments of the studies of scale: tables and arrays on workers, and larger than the memory."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import array_stores
import data_formats
import data_generator
from adapter_core import Feature, RemoteFile
from adapter_core.errors import InvalidRequestError
from format_bench.instruments import threads
from format_bench.instruments.memory_limit import limited
from format_bench.network.environment import as_client
from format_bench.network.object_server import ObjectServer
from format_bench.parallel.arrays import ArrayPlan
from format_bench.parallel.engine import engine_class, opened
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import LOCAL, OBJECT_STORE
from format_bench.runner import folders
from format_bench.studies.declared.rows import Agenda, Instrument, chosen
from format_bench.studies.scale.cells import Cell, alone, limited_cell, on_workers, row_bytes
from format_bench.studies.scale.scale_run import FORM, ScaleRun

AnyPlan = Plan | ArrayPlan

TABLE_FORMATS = "Parquet,Lance,Delta,CSV"

ARRAY_STORES = "Zarr.v2,Zarr.dir,Zarr.sharded,TileDB,Icechunk,NetCDF4,HDF5"
"""Stores to which several processes write, by chunks, shards, fragments, forks or files."""

# Rows of a table, and of a partition, if none are given.
ROWS = 2_000_000, 500_000

# Chunks of an array, and of a region, if none are given.
CHUNKS = 64, 8

MIB = 2**20

# Batches, or regions of an array, that have the size of the limit, if no size of them is given.
#
# Making a batch and its digest needs several times its size.
BATCHES_IN_LIMIT = 32


def _is_array(dataset: str) -> bool:
    return dataset in data_generator.array_names()


def _labels(formats: str, dataset: str) -> list[str]:
    """Return labels of formats, or of stores if the data set is an array."""
    return chosen(formats, (array_stores if _is_array(dataset) else data_formats).names())


def _scaling(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[ScaleRun],
    *,
    formats: str,
    engine: str,
    workers: str,
    memory: str,
    cluster: str,
    medium: Sequence[str],
    dataset: str,
    rows: int | None,
    partition_rows: int | None,
    alone: bool,
) -> Iterable[ScaleRun]:
    of_arrays = _is_array(dataset)
    labels = _labels(formats or (ARRAY_STORES if of_arrays else TABLE_FORMATS), dataset)
    media = [each.replace("-", " ") for each in dict.fromkeys(medium)]
    if cluster and media != [LOCAL]:
        raise InvalidRequestError("--medium: the object server of this machine is for local workers")
    if of_arrays and media != [LOCAL]:
        raise InvalidRequestError(f"--medium: {dataset} is an array; only tables are on object stores")
    usual = CHUNKS if of_arrays else ROWS
    rows, partition_rows = rows or usual[0], partition_rows or usual[1]
    plan_of = ArrayPlan if of_arrays else Plan
    counts = _counts(workers)
    # Workers inherit them: as many threads as workers, not more.
    os.environ.update(threads.environment("1"))
    engine_class(engine)
    whole = plan_of(dataset, rows, -(-rows // partition_rows))
    jobs = [_alone(agenda, labels, whole)] if alone else []
    if cluster:
        jobs.append(_on_engine(agenda, [whole], labels, [LOCAL], engine, cluster, ""))
    # The serial engine has no workers.
    limit = "" if engine == "serial" else memory
    for count in [] if cluster else counts:
        part = max(1, rows * count // max(counts))
        plans: set[AnyPlan] = {whole, plan_of(dataset, part, -(-part // partition_rows))}
        where = f"local:{count}:{limit}" if limit else f"local:{count}"
        in_order = sorted(plans, key=lambda each: each.rows)
        jobs.append(_on_engine(agenda, in_order, labels, media, engine, where, limit))
    return itertools.chain(*jobs)


def _counts(workers: str) -> list[int]:
    try:
        counts = [int(each) for each in workers.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise InvalidRequestError(f"--workers {workers}: give numbers with commas, e.g. 1,2")
    return counts


def _alone(
    agenda: Agenda[ScaleRun], labels: Sequence[str], plan: AnyPlan, limit_bytes: int = 0
) -> Iterator[ScaleRun]:
    """Measure each adapter alone, one process with one file, maybe under a limit of memory."""
    with folders.make(agenda.out or Path()) as folder:
        for label in labels:
            with limited(limit_bytes) if limit_bytes else nullcontext() as limit:
                cell = Cell(label, plan)
                if limit:
                    text = f"{limit_bytes // MIB} MiB, limited by {limit.method}"
                    cell = limited_cell(label, plan, text)
                if agenda.has(**cell.facts):
                    yield from [*alone(cell, folder, limit)]


def _on_engine(  # noqa: PLR0913, PLR0917 (a job, and its place)
    agenda: Agenda[ScaleRun],
    plans: Sequence[AnyPlan],
    labels: Sequence[str],
    media: Sequence[str],
    engine: str,
    where: str,
    memory: str,
) -> Iterator[ScaleRun]:
    """Measure each format and table on each medium, or store and array, on the same workers."""
    with folders.make(agenda.out or Path()) as folder, ExitStack() as stack:
        places: dict[str, Path | RemoteFile] = {LOCAL: folder / "table"}
        if OBJECT_STORE in media:
            # Workers inherit the environment, so the server is first.
            places[OBJECT_STORE] = stack.enter_context(_stored(folder / "server"))
        workers = stack.enter_context(opened(engine, where))
        for plan, label, medium in itertools.product(plans, labels, media):
            cell = Cell(label, plan, workers.name, workers.workers, memory, medium)
            if agenda.has(**cell.facts):
                yield from [*on_workers(workers, cell, places[medium])]


@contextmanager
def _stored(folder: Path) -> Iterator[RemoteFile]:
    """Provide an address on an object server, in the environment of its clients meanwhile."""
    folder.mkdir()
    with ObjectServer(folder, keep_alive=False) as server, as_client(server.environment):
        yield server.address(server.port, f"{server.folder}/table")


def plan_of(dataset: str, limit_bytes: int, times: float, batch_rows: int | None) -> AnyPlan:
    """Return a table, or an array, of that many times the limit in memory.

    Parameters
    ----------
    dataset : str
        Name of a table or an array.
    limit_bytes : int
        Limit of the memory.
    times : float
        Size of the data by the limit.
    batch_rows : int, optional
        Rows of a batch, or chunks of a region; by default a 32nd of the limit.
    """
    of_arrays = _is_array(dataset)
    item_bytes = ArrayPlan(dataset, 1, 1).source().chunk_bytes if of_arrays else row_bytes(dataset)
    items = int(limit_bytes * times / item_bytes)
    batch = batch_rows or max(1, int(limit_bytes / BATCHES_IN_LIMIT / item_bytes))
    if of_arrays:
        chunks = max(1, items)
        return ArrayPlan(dataset, chunks, -(-chunks // batch))
    return Plan(dataset, items, max(1, -(-items // batch)))


def usual_labels(dataset: str) -> list[str]:
    """Return the stores that keep all values, or the formats that write and read in batches."""
    if _is_array(dataset):
        stores = (array_stores.find(name) for name in array_stores.names())
        return [store.label for store in stores if not store.suite and store.error is None]
    needed = {Feature.STREAMS, Feature.BATCHES}
    return [name for name in data_formats.names() if needed <= data_formats.find(name).supports]


def _out_of_core(  # noqa: PLR0913 (the options of the study)
    agenda: Agenda[ScaleRun],
    *,
    formats: str,
    dataset: str,
    memory_mib: int,
    times: float,
    batch_rows: int | None,
) -> Iterable[ScaleRun]:
    labels = _labels(formats, dataset) if formats else usual_labels(dataset)
    limit_bytes = memory_mib * MIB
    plan = plan_of(dataset, limit_bytes, times, batch_rows)
    if plan.rows < 1:
        raise InvalidRequestError("the table has no rows; give a larger --times")
    if isinstance(plan, ArrayPlan):
        data_bytes = plan.source().size_bytes
    else:
        data_bytes = int(plan.rows * row_bytes(dataset))
    found = _alone(agenda, labels, plan, limit_bytes)
    return (replace(each, limit_bytes=limit_bytes, frame_bytes=data_bytes) for each in found)


def _told(run: ScaleRun) -> str:
    outcome = f"{run.status}: {run.sentence}" if run.status else f"{run.seconds:.2f} s"
    spread = f"{run.engine}, {run.workers}, {run.medium}"
    return f"{spread}: {run.format}: {run.step}: {outcome}"


SCALING = Instrument(FORM, _scaling, _told, needs_out=True)

OUT_OF_CORE = Instrument(FORM, _out_of_core, _told, needs_out=True)
