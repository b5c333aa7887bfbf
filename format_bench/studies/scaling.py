"""Study of scaling: tables and arrays that several workers write and read, on Dask or Ray."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import array_stores
import data_formats
import data_generator
from adapter_core import RemoteFile, UnknownNameError
from adapter_core.errors import InvalidRequestError
from format_bench.instruments import threads
from format_bench.network.environment import as_client
from format_bench.network.object_server import ObjectServer
from format_bench.parallel.arrays import ArrayPlan
from format_bench.parallel.engine import engine_class, opened
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import LOCAL, MEDIA, OBJECT_STORE
from format_bench.results.study_rows import read
from format_bench.runner import folders
from format_bench.studies.declared.rows import kept
from format_bench.studies.scale.page import page
from format_bench.studies.scale.results import FORM
from format_bench.studies.scale.session import Cell, alone, on_workers, show

if TYPE_CHECKING:
    from format_bench.studies.scale.results import ScaleRun

AnyPlan = Plan | ArrayPlan

TABLE_FORMATS = "Parquet,Lance,Delta,CSV"

ARRAY_STORES = "Zarr.v2,Zarr.dir,Zarr.sharded,TileDB,Icechunk,NetCDF4,HDF5"
"""Stores to which several processes write, by chunks, shards, fragments, forks or files."""

ROWS = 2_000_000, 500_000
"""Rows of a table, and of a partition, if none are given."""

CHUNKS = 64, 8
"""Chunks of an array, and of a region, if none are given."""


def measure_alone(labels: Sequence[str], plan: AnyPlan, out: Path) -> Iterator[ScaleRun]:
    """Measure each adapter alone, one process with one file; yield each step."""
    with folders.make(out) as folder:
        for label in labels:
            yield from alone(Cell(label, plan), folder)


def measure(  # noqa: PLR0913 (what a job needs)
    labels: Sequence[str],
    plans: Sequence[AnyPlan],
    out: Path,
    *,
    engine: str,
    where: str,
    memory: str = "",
    media: Sequence[str] = (LOCAL,),
) -> Iterator[ScaleRun]:
    """Measure each format and table on each medium, or store and array, on the same workers."""
    with folders.make(out) as folder, ExitStack() as stack:
        places: dict[str, Path | RemoteFile] = {LOCAL: folder / "table"}
        if OBJECT_STORE in media:
            # Workers inherit the environment, so the server is first.
            places[OBJECT_STORE] = stack.enter_context(_stored(folder / "server"))
        workers = stack.enter_context(opened(engine, where))
        for plan, label, medium in itertools.product(plans, labels, media):
            cell = Cell(label, plan, workers.name, workers.workers, memory, medium)
            yield from on_workers(workers, cell, places[medium])


@contextmanager
def _stored(folder: Path) -> Iterator[RemoteFile]:
    """Provide an address on an object server, in the environment of its clients meanwhile."""
    folder.mkdir()
    with ObjectServer(folder, keep_alive=False) as server, as_client(server.environment):
        yield server.address(server.port, f"{server.folder}/table")


@click.command
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the results.")
@click.option("--formats", default="", metavar="LABELS", help="Of tables, or stores of arrays.")
@click.option("--engine", default="dask", show_default=True, help="serial, dask or ray.")
@click.option("--workers", default="1,2", show_default=True, help="Numbers of local workers.")
@click.option("--memory", default="", help="Limit of each local worker, e.g. 1.5GiB.")
@click.option("--cluster", default="", help="A cluster instead of local workers; as run --cluster.")
@click.option(
    "--medium",
    "media",
    multiple=True,
    type=click.Choice([each.replace(" ", "-") for each in MEDIA]),
    default=[LOCAL],
    show_default=True,
    help="Where the tables are; may be repeated.",
)
@click.option("--dataset", default="core", show_default=True, help="A table or an array.")
@click.option("--rows", type=click.IntRange(1), help="Rows, or chunks of an array.")
@click.option("--partition-rows", type=click.IntRange(1), help="Those of a partition.")
@click.option("--alone", "with_alone", is_flag=True, help="Measure the adapters alone, too.")
@click.option("--page", "shown", type=click.Path(path_type=Path), help="Print the page of results.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    out: Path | None,
    formats: str,
    engine: str,
    workers: str,
    memory: str,
    cluster: str,
    media: tuple[str, ...],
    dataset: str,
    rows: int | None,
    partition_rows: int | None,
    with_alone: bool,  # noqa: FBT001 (click's way)
    shown: Path | None,
) -> None:
    """Save a table on several workers, read it, read two columns, and count its rows.

    An array is saved and read: stores write chunks, shards or fragments to one array, or a file for each
    region. By default tables have 2,000,000 rows in partitions of 500,000, arrays 64 chunks in regions
    of 8.

    Workers make the rows of their partitions, and verify what they read by digests. With several numbers
    of workers, fewer workers also take a table that is smaller in proportion (weak scaling). Results are
    appended to results.jsonl in the folder. The object store is a server on this machine;
    format-bench build object-server builds it.

    \b
    Examples:
      format-bench study scaling --rows 20000000 --memory 1.5GiB --alone --out reports/scale
      format-bench study scaling --engine ray --workers 2 --out reports/scale
      format-bench study scaling --dataset era5-hourly-1deg --rows 2000 --out reports/scale
      format-bench study scaling --medium local --medium object-store --workers 2 --out reports/scale
      format-bench study scaling --cluster tcp://10.0.0.1:8786 --out /shared/scale
      format-bench study scaling --page reports/scale > docs/scale.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if shown:
        click.echo(page(read(FORM, shown)), nl=False)
        return
    if out is None:
        raise click.UsageError("give --out FOLDER to measure, or --page FOLDER for the page")
    of_arrays = dataset in data_generator.array_names()
    known = array_stores.names() if of_arrays else data_formats.names()
    formats = formats or (ARRAY_STORES if of_arrays else TABLE_FORMATS)
    labels = [each for each in formats.split(",") if each]
    for label in labels:
        if label not in known:
            raise UnknownNameError("format", label, known)
    if cluster and media != (LOCAL,):
        raise InvalidRequestError("--medium: the object server of this machine is for local workers")
    if of_arrays and media != (LOCAL,):
        raise InvalidRequestError(f"--medium: {dataset} is an array; only tables are on object stores")
    usual = CHUNKS if of_arrays else ROWS
    rows, partition_rows = rows or usual[0], partition_rows or usual[1]
    plan_of = ArrayPlan if of_arrays else Plan
    counts = _counts(workers)
    # Workers inherit them: as many threads as workers, not more.
    os.environ.update(threads.environment("1"))
    engine_class(engine)
    whole = plan_of(dataset, rows, -(-rows // partition_rows))
    jobs = [measure_alone(labels, whole, out)] if with_alone else []
    if cluster:
        jobs.append(measure(labels, [whole], out, engine=engine, where=cluster))
    # The serial engine has no workers.
    limit = "" if engine == "serial" else memory
    for count in [] if cluster else counts:
        part = max(1, rows * count // max(counts))
        plans = {whole, plan_of(dataset, part, -(-part // partition_rows))}
        jobs.append(
            measure(
                labels,
                sorted(plans, key=_rows),
                out,
                engine=engine,
                where=f"local:{count}:{limit}" if limit else f"local:{count}",
                memory=limit,
                media=[each.replace("-", " ") for each in dict.fromkeys(media)],
            )
        )
    start = time.monotonic()
    for run in kept(FORM, out, itertools.chain(*jobs), scratch=out):
        show(run, start)


def _rows(plan: AnyPlan) -> int:
    return plan.rows


def _counts(workers: str) -> list[int]:
    try:
        counts = [int(each) for each in workers.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise InvalidRequestError(f"--workers {workers}: give numbers with commas, e.g. 1,2")
    return counts
