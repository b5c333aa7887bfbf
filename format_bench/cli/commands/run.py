"""Measurements without asv, on this machine or on a cluster."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from format_bench.cli import summaries
from format_bench.cli.help import Section, SectionedCommand
from format_bench.cli.options import (
    Duration,
    Names,
    Shape,
    codec_names,
    dataset_names,
    format_names,
    is_of_records,
    measuring_console,
    schema_option,
    step_names,
    taken_conditions,
    taken_limits,
    taken_parse_dates,
    taken_schema,
    track_names,
    with_conditions,
    with_data_limits,
)
from format_bench.families.questions import Questions
from format_bench.results.display.text import plural
from format_bench.results.load import RESULTS
from format_bench.results.records import Record, key
from format_bench.results.suites import SUITES
from format_bench.runner import progress, time_budget
from format_bench.runner.cluster_run import measured, plan_lines, session_of
from format_bench.runner.media import Scratch
from format_bench.runner.plan import RunRequest
from format_bench.runner.progress import MeasuredShare, columns_of
from format_bench.runner.session import RunSummary, measure
from format_bench.runner.shards import Shard
from format_bench.runner.user_data import Source, each_of

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.families.cases import Case
    from format_bench.runner.cluster_ledger import MachineLedger


@dataclass(frozen=True)
class ClusterOptions:
    """Options of `run` that are about a cluster or the output."""

    where: str
    machines: tuple[str, ...]
    plan_only: bool
    report: bool
    as_json: bool


def run_on_cluster(request: RunRequest, options: ClusterOptions, shown: Console) -> None:
    """Measure on a cluster, or print the plan; each kind of machine has its own results.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """

    def say(line: str) -> None:
        shown.print(line, soft_wrap=True)

    with session_of(
        request,
        options.where,
        options.machines,
        say,
        on_own=lambda own: None if options.as_json else summaries.describe(own),
        on_record=lambda record: click.echo(json.dumps(asdict(record))) if options.as_json else None,
        plan_only=options.plan_only,
    ) as session:
        if options.plan_only:
            for line in plan_lines(session):
                click.echo(line)
            return
        try:
            done = measured(session)
        except BaseException:
            say(f"results so far are in {request.out / RESULTS}; the same command resumes")
            raise
    for mark, ledger in sorted(done.ledgers.items()):
        left = len(ledger.next_rounds())
        if not options.as_json:
            click.echo(f"machine {mark}\n")
            samples = done.run.samples if left else ()
            summaries.show(_summary(ledger, session.run.cases, samples, request), request.out)
        if left:
            say(f"machine {mark}: {plural(left, 'case')} left; the same command resumes")
        if options.report:
            say(f"report: {summaries.write(request.out, mark)}")


def _summary(
    ledger: MachineLedger, cases: tuple[Case, ...], samples: tuple[Case, ...], request: RunRequest
) -> RunSummary:
    """Return the outcome of a run on machines of one kind, with the samples of an unfinished one."""
    asked = request.questions.by_name if request.questions else ()
    columns = columns_of(cases[0].suite, cold=request.cold, questions=asked)
    budget_seconds = request.time_budget_seconds
    not_run = "" if math.isinf(budget_seconds) else time_budget.spent(budget_seconds)
    return RunSummary(cases, columns, ledger.records, MeasuredShare(), samples, not_run)


@click.command("run", cls=SectionedCommand)
@Section.DATA.option(
    "--data",
    multiple=True,
    metavar="FILE|FOLDER",
    help="Your table, folder of images, or array, with --suite records JSON lines; may be repeated. "
    "FILE::NAME names one of several tables or variables, FILE::NAME,NAME several variables.",
)
@schema_option
@Section.DATA.option("--sample", type=click.IntRange(1), help="Use N random rows, images or chunks.")
@Section.DATA.option(
    "--chunks",
    type=Shape(),
    help="Chunks of your array, e.g. 1,560,1440. [default: as in the file]",
)
@Section.DATA.option("--trust-pickle", is_flag=True, help="Load a pickle, which can run any code.")
@with_data_limits
@click.option("--webface", metavar="FILE", hidden=True)  # an alias of --data
@Section.DATA.option(
    "--datasets",
    type=Names(dataset_names),
    default=(),
    help="Generated data sets instead, see format-bench list datasets. [default: one of the suite]",
)
@Section.DATA.option("--rows", type=int, help="Rows, images or chunks to generate.")
@Section.WHAT.option(
    "--suite",
    type=click.Choice(list(SUITES)),
    metavar="SUITE",
    help="Suite of measurements, see format-bench list suites. [default: the usual one for the data]",
)
# Aliases of --suite from before there were more suites.
@click.option("--tabular", "suite", flag_value="tabular", hidden=True)
@click.option("--compression", "suite", flag_value="compression", hidden=True)
@click.option("--image", "suite", flag_value="image", hidden=True)
@Section.WHAT.option(
    "--formats",
    type=Names(format_names),
    default=(),
    help="Formats, see format-bench list. [default: all of the suite]",
)
@Section.WHAT.option(
    "--codecs",
    type=Names(codec_names),
    default=(),
    help="Codecs, e.g. none,zstd:3, or all. [default: none]",
)
@Section.WHAT.option(
    "--steps", type=Names(step_names), default=(), help="Steps, e.g. save,read. [default: all]"
)
@Section.WHAT.option(
    "--tracks",
    "--track",
    type=Names(track_names),
    default=(),
    help="Tracks of the suite, e.g. defaults,tuned. [default: all]",
)
@Section.WHAT.option(
    "--queries",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Your own questions to the data, a TOML file.",
)
@Section.HOW.option(
    "--repeats",
    type=click.IntRange(1),
    help="Repeat each step N times. [default: at least 3 times, until the values are stable]",
)
@Section.HOW.option("--cold", is_flag=True, help="Also measure reads that bypass the page cache.")
@Section.HOW.option(
    "--time-budget",
    "time_budget_seconds",
    type=Duration(),
    default=math.inf,
    help="Stop after this time, e.g. 10m: a sample first, then all rows, fastest formats first.",
)
@Section.HOW.option(
    "--step-limit",
    "limit_seconds",
    type=Duration(),
    help="Time after which a step counts as timed out, e.g. 2h. [default: 30m]",
)
@with_conditions
@Section.WHERE.option(
    "--scratch",
    "scratches",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="Folder for the measured files. Several folders, or one with a name, compare media: "
    "--scratch ssd=/data --scratch /mnt/slow",
)
@Section.WHERE.option(
    "--shard",
    metavar="I/N",
    help="Measure one part of the plan, e.g. 2/3; format-bench merge joins the results.",
)
@Section.WHERE.option(
    "--cluster",
    metavar="WHERE",
    help="Measure on a Dask cluster: tcp://HOST:PORT, a scheduler file, local:N, or module:attribute.",
)
@Section.WHERE.option(
    "--machines",
    type=Names(),
    default=(),
    help="With --cluster: only machines whose fingerprints start with these.",
)
@Section.WHERE.option(
    "--plan", "plan_only", is_flag=True, help="With --cluster: print the plan, and measure nothing."
)
@Section.OUTPUT.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reports/run",
    show_default=True,
    help="Folder for the results; cells already in it are not measured again.",
)
@Section.OUTPUT.option("--fresh", is_flag=True, help="Delete earlier results in that folder first.")
@Section.OUTPUT.option("--report", is_flag=True, help="Also write an HTML report.")
@Section.OUTPUT.option("--json", "as_json", is_flag=True, help="Print each record as a line of JSON.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Measure save and read time, size, memory and losses.

    Each format saves the data, reads them back and is verified, in fresh processes and several rounds.
    To resume an interrupted run, give the same command again.

    \b
    Examples:
      format-bench run --rows 1000000 --formats CSV,Parquet,Feather --cold
      format-bench run --data my.csv --sample 100000
      format-bench run --suite records --data my.jsonl
      format-bench run --queries my.toml --data my.parquet
      format-bench run --data ocean.nc::tos,sos --data waves.nc
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
        raise click.UsageError("--machines and --plan need --cluster")
    shard = options.pop("shard")
    if shard is not None and where is not None:
        raise click.UsageError("--shard and --cluster cannot be combined: both divide the plan")
    options["shard"] = None if shard is None else Shard.parse(shard)
    conditions = taken_conditions(options)
    queries = options.pop("queries")
    questions = None if queries is None else Questions.of(queries)
    wanted = RunRequest(
        user_data=_own(options),
        conditions=conditions,
        questions=questions,
        further_settings=True,
        **options,
    )
    shown = measuring_console(quiet=ctx.obj["quiet"])
    if where is not None:
        on_cluster = ClusterOptions(where, machines, plan_only, report, as_json)
        run_on_cluster(wanted, on_cluster, shown)
        return
    if as_json:
        _measure_as_json(wanted, shown)
    else:
        describe = partial(summaries.describe, named=len(wanted.user_data) > 1)
        found = measure(wanted, shown, on_own=describe, on_record=lambda _: None)
        summaries.show(found, wanted.out)
        shown.print(found.watch.text())
    if report:
        shown.print(f"report: {summaries.write(wanted.out)}", soft_wrap=True)


def _measure_as_json(wanted: RunRequest, shown: Console) -> None:
    """Measure, and print each record as it is measured, then records of earlier calls."""
    printed = set()

    def show(record: Record) -> None:
        printed.add(key(record))
        click.echo(json.dumps(asdict(record)))

    found = measure(wanted, shown, on_own=lambda _: None, on_record=show)
    for record in progress.records_of_cases(found.records, found.cases):
        if key(record) not in printed:
            show(record)


def _own(options: dict[str, Any]) -> tuple[Source, ...]:
    """Take the options on the user's data out of the others; return a source of each data set."""
    sample, trust_pickle = options.pop("sample"), options.pop("trust_pickle")
    chunks = options.pop("chunks")
    paths = _paths(options.pop("data"), options.pop("webface"))
    first = next(iter(paths), None)
    limits, parse_dates = taken_limits(options, first), taken_parse_dates(options, first)
    suite = options["suite"]
    schema = taken_schema(options.pop("schema"), first, suite)
    if not paths and (sample is not None or trust_pickle or chunks):
        raise click.UsageError("--sample, --trust-pickle and --chunks need --data")
    if paths and (options["datasets"] or options["rows"] is not None):
        raise click.UsageError(
            "--data cannot be combined with --datasets or --rows; --sample takes some of its rows"
        )
    common = Source(
        "",
        sample,
        trust_pickle,
        chunks=chunks,
        limits=limits,
        parse_dates=parse_dates,
        as_records=is_of_records(suite),
        schema=schema,
    )
    return tuple(each for path in paths for each in each_of(replace(common, path=path)))


def _paths(data: tuple[str, ...], webface: str | None) -> tuple[str, ...]:
    if data and webface is not None:
        raise click.UsageError("--data and --webface cannot be combined")
    return data if webface is None else (webface,)
