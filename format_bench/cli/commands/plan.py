"""Which layout of a table, or store and chunks of an array, suit a user's own mix of queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from format_bench.cli.help import Section, SectionedCommand
from format_bench.cli.options import (
    Duration,
    Name,
    Names,
    codec_names,
    dataset_names,
    format_names,
    measuring_console,
    taken_limits,
    taken_parse_dates,
    with_data_limits,
)
from format_bench.planning import output, shard_plan
from format_bench.planning.chunks import ChunkPlanner
from format_bench.planning.layouts import LayoutPlanner
from format_bench.planning.mix import asks_tables
from format_bench.planning.planner import PlanRequest
from format_bench.planning.session import plan
from format_bench.runner.plan import codec_choice
from format_bench.runner.user_data import Source

# For all stores together; each has four layouts and three turns in any case (docs/planning.md).
BUDGET_SECONDS = 120.0
_MEGABYTE = 1_000_000

HELP = f"""Find how to write data for your queries.

MIX is a TOML file with your questions, and how often each is asked. Layouts that differ in everything
are measured on a sample of the data, a cost model of each store is fitted to them, the best layouts by
the model are measured again, in turns with the defaults. docs/planning.md describes file and method.

\b
  [[question]]
  name = "a device"
  weight = 5
  columns = ["time", "temperature"]
  where = [{{ column = "device", operator = "==", value = 77 }}]

\b
  [[question]]
  name = "series at a place"            # of an array
  extent = {{ time = "all", latitude = 1, longitude = 1 }}

\b
  [training]                            # into how many shards samples are put
  loader = "WebDataset"
  workers = 2
  link = "20ms"

\b
Examples:
  format-bench plan mix.toml --data trips.parquet
  format-bench plan mix.toml --data trips.csv --stores "Parquet[polars]" --codec zstd:3 --explain
  format-bench plan mix.toml --data era5.nc --codec zstd:3 --stores HDF5,Zarr.dir --budget 5m
  format-bench plan mix.toml --dataset era5-small --rows 200 --cold --out plan.html

Stores by default: {", ".join(LayoutPlanner.stores)} for tables,
{", ".join(ChunkPlanner.stores)} for arrays.
"""


@click.command(cls=SectionedCommand, help=HELP)
@click.argument("mix", type=click.Path(path_type=Path))
@Section.DATA.option(
    "--data", metavar="FILE|FOLDER", help="Your own table, or array (NetCDF, GRIB, HDF5, Zarr, ...)."
)
@with_data_limits
@Section.DATA.option("--dataset", type=Name(dataset_names), help="Generated data instead of --data.")
@Section.DATA.option(
    "--rows", type=click.IntRange(1), help="Rows, or chunks, of the generated data. [default: all]"
)
@Section.WHAT.option(
    "--stores", type=Names(format_names), default=(), help="Stores, or formats with engines, to try."
)
@Section.WHAT.option(
    "--codec",
    type=Name(codec_names),
    default="",
    help="Codec, e.g. zstd:3. [default: none for arrays, all for tables]",
)
@Section.HOW.option("--cold", is_flag=True, help="Measure reads that bypass the page cache.")
@Section.HOW.option(
    "--budget",
    "budget_seconds",
    type=Duration(),
    default=BUDGET_SECONDS,
    help="Time for everything, e.g. 5m. [default: 2m]",
)
@Section.HOW.option(
    "--sample-size",
    "sample_megabytes",
    type=click.FloatRange(0.1),
    metavar="MB",
    help="Size of the sample. [default: depends on the budget]",
)
@Section.WHERE.option(
    "--scratch", type=click.Path(path_type=Path), help="Folder for the measured files."
)
@Section.OUTPUT.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Also write the answer to a page, .html or .md.",
)
@Section.OUTPUT.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder for the results, where the same command resumes. [default: reports/plan-NAME]",
)
@Section.OUTPUT.option("--fresh", is_flag=True, help="Delete earlier results in that folder first.")
@Section.OUTPUT.option("--explain", is_flag=True, help="Show all layouts, predictions and reasons.")
@Section.OUTPUT.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    ctx: click.Context,
    /,
    mix: Path,
    data: str | None,
    dataset: str | None,
    rows: int | None,
    stores: tuple[str, ...],
    codec: str,
    cold: bool,  # noqa: FBT001 (a switch)
    budget_seconds: float,
    sample_megabytes: float | None,
    scratch: Path | None,
    out: Path | None,
    results: Path | None,
    fresh: bool,  # noqa: FBT001 (a switch)
    explain: bool,  # noqa: FBT001 (a switch)
    as_json: bool,  # noqa: FBT001 (a switch)
    **limits: Any,
) -> None:
    """Print a plan."""
    if (data is None) == (dataset is None):
        raise click.UsageError("give either --data or --dataset")
    if data is not None and rows is not None:
        raise click.UsageError("--rows needs --dataset")
    if out is not None and out.suffix[1:] not in output.ENDINGS:
        raise click.UsageError(f"--out {out} must end in .html or .md")
    wish = shard_plan.wish_of(mix)
    if wish and (stores or codec or cold or out or sample_megabytes):
        raise click.UsageError(
            "a mix of [training] has no --stores, --codec, --cold, --out, --sample-size"
        )
    name, level = codec_choice(codec or "none")
    if not wish and codec == "none" and asks_tables(mix):
        name = codec  # or else all are tried
    own, parse_dates = taken_limits(limits, data), taken_parse_dates(limits, data)
    request = PlanRequest(
        mix,
        None if data is None else Source(data, parse_dates=parse_dates, limits=own),
        dataset,
        rows,
        stores,
        name,
        level,
        cold,
        budget_seconds,
        None if sample_megabytes is None else sample_megabytes * _MEGABYTE,
        scratch,
        results,
        fresh,
    )
    if wish:
        _plan_shards(request, wish, quiet=ctx.obj["quiet"], as_json=as_json)
        return
    with output.PlanDisplay(measuring_console(quiet=ctx.obj["quiet"])) as display:
        found = plan(request, display.show)
    if out is not None:
        output.write_page(found, out)
    if as_json:
        click.echo(json.dumps(output.to_json(found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        output.show(found, quiet=ctx.obj["quiet"], explains=explain)
    if out is not None:
        measuring_console(quiet=ctx.obj["quiet"]).print(f"page: {out}", soft_wrap=True)


def _plan_shards(request: PlanRequest, wish: shard_plan.Wish, *, quiet: bool, as_json: bool) -> None:
    """Print a plan of shards."""
    found = shard_plan.plan(request, wish, measuring_console(quiet=quiet))
    if as_json:
        click.echo(json.dumps(shard_plan.to_json(wish, found), allow_nan=False, indent=2))
    else:
        output.lines(shard_plan.answer(wish, found))
