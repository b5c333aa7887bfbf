"""Study of tables larger than the memory: written as a stream, and read in batches, under a limit."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

import data_formats
from adapter_core import Feature, UnknownNameError
from adapter_core.errors import InvalidRequestError
from format_bench.instruments.memory_limit import limited
from format_bench.parallel.tables import Plan
from format_bench.runner import folders
from format_bench.studies.scale import results
from format_bench.studies.scale.session import alone, alone_cell, row_bytes

MIB = 2**20


def plan_of(dataset: str, limit_bytes: int, times: float, partition_rows: int) -> Plan:
    """Return a table of that many times the limit in memory, as a DataFrame."""
    rows = int(limit_bytes * times / row_bytes(dataset))
    return Plan(dataset, rows, max(1, -(-rows // partition_rows)))


def streamed_formats() -> list[str]:
    """Return the formats that write streams and read batches."""
    needed = {Feature.STREAMS, Feature.BATCHES}
    return [name for name in data_formats.names() if needed <= data_formats.find(name).supports]


@click.command
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--formats", default="", metavar="LABELS", help="By default all that write streams.")
@click.option("--dataset", default="core", show_default=True)
@click.option("--memory-mib", type=click.IntRange(64), default=512, show_default=True)
@click.option("--times", type=click.FloatRange(0.01), default=4.0, show_default=True)
@click.option("--batch-rows", type=click.IntRange(1), default=100_000, show_default=True)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    out: Path, formats: str, dataset: str, memory_mib: int, times: float, batch_rows: int
) -> None:
    """Save a table of several times the memory allowed, and read it in batches.

    Each step has a process under a limit: a control group of the kernel where one can be made, else a
    thread that watches the resident memory. The rows are made batch by batch, and verified by digests.

    \b
    Examples:
      format-bench study out-of-core --out reports/scale
      format-bench study out-of-core --formats Delta --memory-mib 256 --times 8 --out reports/scale
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    labels = [each for each in formats.split(",") if each] or streamed_formats()
    for label in labels:
        if label not in data_formats.names():
            raise UnknownNameError("format", label, data_formats.names())
    limit_bytes = memory_mib * MIB
    plan = plan_of(dataset, limit_bytes, times, batch_rows)
    frame_bytes = int(plan.rows * row_bytes(dataset))
    if plan.rows < 1:
        raise InvalidRequestError("the table has no rows; give a larger --times")
    out.mkdir(parents=True, exist_ok=True)
    run_id, start = results.new_run_id(), time.monotonic()
    with folders.make(out) as folder:
        for label in labels:
            with limited(limit_bytes) as limit:
                text = f"{memory_mib} MiB, limited by {limit.method}"
                for found in alone(alone_cell(label, plan, text), folder, limit):
                    run = replace(found, limit_bytes=limit_bytes, frame_bytes=frame_bytes)
                    results.append(out, run, run_id)
                    outcome = f"{run.status}: {run.sentence}" if run.status else f"{run.seconds:.2f} s"
                    place = f"[{time.monotonic() - start:.0f} s]"
                    click.echo(f"{place} {label}: {run.step}: {outcome}", err=True)
