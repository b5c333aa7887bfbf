"""Measurements without asv."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from format_bench.cli import summaries
from format_bench.cli.cluster import ClusterOptions, run_on_cluster
from format_bench.cli.options import (
    Duration,
    Names,
    Shape,
    measuring_console,
    taken_conditions,
    taken_limits,
    with_conditions,
    with_data_limits,
)
from format_bench.families.questions import Questions
from format_bench.results.suites import SUITES
from format_bench.runner.media import Scratch
from format_bench.runner.plan import RunRequest
from format_bench.runner.session import measure
from format_bench.runner.shards import Shard
from format_bench.runner.user_data import Source


@click.command("run")
@click.option(
    "--suite",
    type=click.Choice(list(SUITES)),
    help="Suite; `format-bench list suites` describes them. [default: the first of the data's family]",
)
# Aliases of --suite from before there were more suites.
@click.option("--tabular", "suite", flag_value="tabular", hidden=True)
@click.option("--compression", "suite", flag_value="compression", hidden=True)
@click.option("--image", "suite", flag_value="image", hidden=True)
@click.option("--formats", type=Names(), default=(), help="Labels of formats. [default: all]")
@click.option("--datasets", type=Names(), default=(), help="Generated data. [default: one]")
@click.option("--rows", type=int, help="Rows of each table, images of each set, or chunks.")
@click.option(
    "--codecs", type=Names(), default=(), help="As in none,default,zstd:3, or all. [default: none]"
)
@click.option(
    "--tracks",
    "--track",
    type=Names(),
    default=(),
    help="As in defaults,tuned. [default: all of the suite]",
)
@click.option("--steps", type=Names(), default=(), help="As in save,read. [default: all of the family]")
@click.option("--data", metavar="FILE|FOLDER", help="Your own table file, folder of images, or array.")
@click.option(
    "--queries",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Your own questions to the data, in TOML; `docs/questions.md` has the fields.",
)
@click.option("--sample", type=click.IntRange(1), help="Take so many rows, images or chunks at random.")
@click.option(
    "--chunks", type=Shape(), help="Chunks of your array, as in 1,560,1440. [default: its own]"
)
@click.option("--trust-pickle", is_flag=True, help="Load a pickle, which can run any program.")
@with_data_limits
@click.option("--webface", metavar="FILE", hidden=True)  # an alias of --data
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="So many calls of each step. [default: at least 3, then until stable]",
)
@click.option("--cold", is_flag=True, help="Also read what is not in the page cache.")
@with_conditions
@click.option(
    "--time-budget",
    "time_budget_seconds",
    type=Duration(),
    default=math.inf,
    help="As in 10m: measure a sample of the rows first, then all, the cheapest formats first.",
)
@click.option(
    "--scratch",
    "scratches",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="Folder for the measured files. Several, or one with a name: compare media, as in "
    "--scratch ssd=/data --scratch /mnt/slow; without a name the medium is found out.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reports/run",
    show_default=True,
    help="Folder for the results; what it holds is not measured again.",
)
@click.option("--fresh", is_flag=True, help="Discard what the folder holds, and start over.")
@click.option(
    "--shard",
    metavar="I/N",
    help="Measure a part of the plan, as in 2/3; `format-bench merge` joins the folders of all parts.",
)
@click.option(
    "--cluster",
    metavar="WHERE",
    help="Measure on a Dask cluster: tcp://HOST:PORT, a scheduler file, local:N, or module:attribute.",
)
@click.option("--machines", type=Names(), default=(), help="Of a cluster: beginnings of fingerprints.")
@click.option("--plan", "plan_only", is_flag=True, help="Of a cluster: print what would be measured.")
@click.option("--report", is_flag=True, help="Write the report as HTML when all is measured.")
@click.option("--json", "as_json", is_flag=True, help="Print each record as a line of JSON.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Measure formats: save, read, size, memory and losses, in fresh processes.

    Each format is saved, read, compared and removed, in several rounds. A run that was interrupted goes
    on when the same command is called again.

    \b
    Examples:
      format-bench run --rows 1000000 --formats CSV,Parquet,Feather --cold
      format-bench run --data my.csv --sample 100000
      format-bench run --queries my.toml --data my.parquet
      format-bench run --suite compression --datasets webface
      format-bench run --suite chunks --data my.nc --chunks 1,560,1440 --codecs none,blosc:lz4
      format-bench run --suite foxbench --formats HDF5,Zarr.dir --tracks paper --cold
      format-bench run --suite image --datasets imagenet-like --rows 500 --time-budget 10m
      format-bench run --scratch ssd=/data --scratch hdd=/mnt/old --scratch /dev/shm --cold
      format-bench run --rows 1000000 --shard 2/3 --out reports/part-2
      format-bench run --cluster scheduler.json --rows 1000000 --plan
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    report, as_json = options.pop("report"), options.pop("as_json")
    scratches = tuple(map(Scratch.parse, options.pop("scratches")))
    is_compared = len(scratches) > 1 or any(each.medium for each in scratches)
    if is_compared:
        options["media"] = scratches
    elif scratches:
        options["scratch"] = scratches[0].folder
    where, machines = options.pop("cluster"), options.pop("machines")
    plan_only = options.pop("plan_only")
    if where is None and (machines or plan_only):
        raise click.UsageError("--machines and --plan are about --cluster, which is not given")
    shard = options.pop("shard")
    if shard is not None and where is not None:
        raise click.UsageError("--shard and --cluster exclude each other: both divide the plan")
    options["shard"] = None if shard is None else Shard.parse(shard)
    conditions = taken_conditions(options)
    queries = options.pop("queries")
    questions = None if queries is None else Questions.of(queries)
    wanted = RunRequest(
        user_data=_own(options),
        conditions=conditions,
        questions=questions,
        library_defaults=True,
        **options,
    )
    shown = measuring_console(quiet=ctx.obj["quiet"])
    if where is not None:
        on_cluster = ClusterOptions(where, machines, plan_only, report, as_json)
        run_on_cluster(wanted, on_cluster, shown)
        return
    found = measure(
        wanted,
        shown,
        on_own=lambda own: None if as_json else summaries.describe(own),
        on_record=lambda record: click.echo(json.dumps(asdict(record))) if as_json else None,
    )
    if not as_json:
        summaries.show(found, wanted.out)
        shown.print(found.watch.text())
    if report:
        shown.print(f"report: {summaries.write(wanted.out)}", soft_wrap=True)


def _own(options: dict[str, Any]) -> Source | None:
    """Take the options on the user's data out of the others."""
    sample, trust_pickle = options.pop("sample"), options.pop("trust_pickle")
    chunks = options.pop("chunks")
    path = _one_source(options.pop("data"), options.pop("webface"))
    limits = taken_limits(options, path)
    if path is None and (sample is not None or trust_pickle or chunks):
        raise click.UsageError(
            "--sample, --trust-pickle and --chunks are about --data, which is not given"
        )
    if path is not None and (options["datasets"] or options["rows"] is not None):
        raise click.UsageError("--data excludes --datasets and --rows; --sample takes some of its rows")
    return None if path is None else Source(path, sample, trust_pickle, chunks=chunks, limits=limits)


def _one_source(data: str | None, webface: str | None) -> str | None:
    if data is not None and webface is not None:
        raise click.UsageError("--data and --webface exclude each other")
    return data if data is not None else webface
