"""Study of data larger than the memory: written as a stream, and read in batches, under a limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

import array_stores
import data_formats
import data_generator
from adapter_core import Feature, UnknownNameError
from adapter_core.errors import InvalidRequestError
from format_bench.instruments.memory_limit import limited
from format_bench.parallel.arrays import ArrayPlan
from format_bench.parallel.tables import Plan
from format_bench.runner import folders
from format_bench.studies.declared.rows import kept
from format_bench.studies.scale.results import FORM, ScaleRun
from format_bench.studies.scale.session import alone, limited_cell, row_bytes, show

MIB = 2**20

BATCHES_IN_LIMIT = 32
"""Batches, or regions of an array, that have the size of the limit, if no size of them is given.

Making a batch and its digest needs several times its size."""


def plan_of(dataset: str, limit_bytes: int, times: float, partition_rows: int | None) -> Plan:
    """Return a table of that many times the limit in memory, as a DataFrame."""
    size_bytes = row_bytes(dataset)
    rows = int(limit_bytes * times / size_bytes)
    partition_rows = partition_rows or max(1, int(limit_bytes / BATCHES_IN_LIMIT / size_bytes))
    return Plan(dataset, rows, max(1, -(-rows // partition_rows)))


def array_plan_of(dataset: str, limit_bytes: int, times: float, region_chunks: int | None) -> ArrayPlan:
    """Return an array of that many times the limit in memory."""
    size_bytes = ArrayPlan(dataset, 1, 1).source().chunk_bytes
    chunks = max(1, int(limit_bytes * times / size_bytes))
    region_chunks = region_chunks or max(1, limit_bytes // BATCHES_IN_LIMIT // size_bytes)
    return ArrayPlan(dataset, chunks, -(-chunks // region_chunks))


def array_store_labels() -> list[str]:
    """Return the stores of the suite of arrays that keep all values."""
    stores = (array_stores.find(name) for name in array_stores.names())
    return [store.label for store in stores if not store.suite and store.error is None]


def streamed_formats() -> list[str]:
    """Return the formats that write streams and read batches."""
    needed = {Feature.STREAMS, Feature.BATCHES}
    return [name for name in data_formats.names() if needed <= data_formats.find(name).supports]


def measure(
    labels: Sequence[str], plan: Plan | ArrayPlan, out: Path, limit_bytes: int
) -> Iterator[ScaleRun]:
    """Measure each adapter alone under a limit of memory; yield each step."""
    with folders.make(out) as folder:
        for label in labels:
            with limited(limit_bytes) as limit:
                text = f"{limit_bytes // MIB} MiB, limited by {limit.method}"
                yield from alone(limited_cell(label, plan, text), folder, limit)


@click.command
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--formats", default="", metavar="LABELS", help="By default all that write streams.")
@click.option("--dataset", default="core", show_default=True, help="A table or an array.")
@click.option("--memory-mib", type=click.IntRange(64), default=512, show_default=True)
@click.option("--times", type=click.FloatRange(0.01), default=4.0, show_default=True)
@click.option("--batch-rows", type=click.IntRange(1), help="Rows of a batch, or chunks of a region.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    out: Path, formats: str, dataset: str, memory_mib: int, times: float, batch_rows: int | None
) -> None:
    """Save a table or an array of several times the memory allowed, and read it in batches.

    Each step has a process under a limit: a control group of the kernel where one can be made, else a
    thread that watches the resident memory. The rows are made batch by batch, and verified by digests.
    Batches have a 32nd of the limit by default. Arrays are written chunk by chunk and read in regions of
    that size.

    \b
    Examples:
      format-bench study out-of-core --out reports/scale
      format-bench study out-of-core --formats Delta --memory-mib 256 --times 8 --out reports/scale
      format-bench study out-of-core --dataset era5-hourly-1deg --memory-mib 256 --out reports/scale
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    of_arrays = dataset in data_generator.array_names()
    known = array_stores.names() if of_arrays else data_formats.names()
    usual = array_store_labels if of_arrays else streamed_formats
    labels = [each for each in formats.split(",") if each] or usual()
    for label in labels:
        if label not in known:
            raise UnknownNameError("format", label, known)
    limit_bytes = memory_mib * MIB
    plan: Plan | ArrayPlan
    if of_arrays:
        plan = array_plan_of(dataset, limit_bytes, times, batch_rows)
        data_bytes = plan.source().size_bytes
    else:
        plan = plan_of(dataset, limit_bytes, times, batch_rows)
        data_bytes = int(plan.rows * row_bytes(dataset))
    if plan.rows < 1:
        raise InvalidRequestError("the table has no rows; give a larger --times")
    start = time.monotonic()
    found = measure(labels, plan, out, limit_bytes)
    sized = (replace(each, limit_bytes=limit_bytes, frame_bytes=data_bytes) for each in found)
    for run in kept(FORM, out, sized, scratch=out):
        show(run, start)
