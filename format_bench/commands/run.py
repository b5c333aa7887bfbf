"""The measurements, without asv."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from format_bench import run_folder, run_report, scratch_folder
from format_bench.cases import IMAGE_STEPS, STEPS
from format_bench.clock import MIN_REPEATS
from format_bench.duration import Duration
from format_bench.live import Display
from format_bench.own_data import Prepared, Source, prepare
from format_bench.plan import BadPlan, Plan, Wishes, plan
from format_bench.run_table import columns_of
from format_bench.runner import Runner
from format_bench.stopwatch import Stopwatch

if TYPE_CHECKING:
    from format_bench.cases import Step

ROUNDS = 3
"""In how many processes each step is made, if it is repeated so often."""

BUDGET_SECONDS = 6.0
"""Wall time of the repeats of a step, of all rounds together, if their number is not given."""


class Names(click.ParamType[tuple[str, ...]]):
    """Takes names, separated by commas."""

    name = "names"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        if not names:
            self.fail("no name is given", param, ctx)
        return names


@click.command("run")
@click.option(
    "--suite",
    type=click.Choice(["tabular", "compression", "image"]),
    help="What is measured: table formats, their codecs, or image storages. [default: tabular]",
)
@click.option("--tabular", "suite", flag_value="tabular", help="The same as --suite tabular.")
@click.option("--compression", "suite", flag_value="compression", help="As --suite compression.")
@click.option("--image", "suite", flag_value="image", help="As --suite image.")
@click.option("--formats", type=Names(), default=(), help="Labels of formats. [default: all]")
@click.option("--datasets", type=Names(), default=(), help="Generated data. [default: one]")
@click.option("--rows", type=int, help="Rows of each table, or images of each set.")
@click.option("--codecs", type=Names(), default=(), help="As in none,default,zstd:3. [default: none]")
@click.option("--data", metavar="FILE|FOLDER", help="Your own table file, or folder of images.")
@click.option("--sample", type=int, help="Take so many rows, or images, of --data at random.")
@click.option("--trust-pickle", is_flag=True, help="Load a pickle, which can run any program.")
@click.option("--webface", metavar="FILE", help="The same as --data, for the thesis' table.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="So many calls of each step. [default: at least 3, then until stable]",
)
@click.option("--cold", is_flag=True, help="Also read what is not in the page cache.")
@click.option("--threads", type=click.Choice(["1", "all"]), default="all", show_default=True)
@click.option("--time-budget", type=Duration(), default=None, help="As in 10m; then begin no more.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Folder for the measured files.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reports/run",
    show_default=True,
    help="Folder for the results; what it holds is not measured again.",
)
@click.option("--fresh", is_flag=True, help="Discard what the folder holds, and start over.")
@click.option("--report", is_flag=True, help="Write the report as HTML when all is measured.")
@click.option("--json", "as_json", is_flag=True, help="Print each record as a line of JSON.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Measure formats: save, read and size, in fresh processes, and what came back.

    Each format is saved, read, compared and removed, in several rounds. A run that was interrupted goes
    on when the same command is called again.

    \b
    Examples:
      format-bench run --rows 1000000 --formats CSV,Parquet,Feather --cold
      format-bench run --data my.csv --sample 100000
      format-bench run --compression --datasets webface
      format-bench run --image --datasets imagenet-like --rows 500 --time-budget 10m
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    options["data"] = _one_source(options["data"], options.pop("webface"))
    if options["data"] is None and (options["sample"] is not None or options["trust_pickle"]):
        raise click.UsageError("--sample and --trust-pickle are about --data, which is not given")
    if options["data"] is not None and (options["datasets"] or options["rows"] is not None):
        raise click.UsageError("--data excludes --datasets and --rows; --sample takes some of its rows")
    if options["sample"] is not None and options["sample"] < 1:
        raise click.UsageError(f"--sample {options['sample']}: at least 1 is needed")
    _Run(options, quiet=ctx.obj["quiet"]).go()


class _Run:
    """One call of the command."""

    def __init__(self, options: dict[str, Any], *, quiet: bool) -> None:
        self.options, self.quiet = options, quiet
        self.out: Path = options["out"]
        # Results go to the standard output, all that passes to the other.
        self.shown = Console(stderr=True, quiet=quiet, highlight=False, markup=False, emoji=False)

    def go(self) -> None:
        """Prepare, measure, and say what was found."""
        scratch = run_folder.check_scratch(self.options["scratch"])
        with ExitStack() as stack:
            own: Prepared | None = None
            if self.options["data"] is not None:
                own = self._own(stack.enter_context(scratch_folder.make(scratch)))
            made = self._plan(own)
            run_folder.open_results(self.out, fresh=self.options["fresh"])
            if own:
                run_folder.check_same_data(self.out, own.name, own.fingerprint)
            self._measure(made, scratch, own)

    def _own(self, folder: Path) -> Prepared:
        source = Source(self.options["data"], self.options["sample"], self.options["trust_pickle"])
        own = prepare(source, folder)
        suite = self.options["suite"] or own.suite
        if (suite == "image") != (own.suite == "image"):
            held = "a folder of images" if own.suite == "image" else "a table"
            raise BadPlan(f"--suite {suite}: {source.path} is {held}")
        self.options["suite"] = suite
        if not self.options["as_json"]:
            run_report.describe(own)
        return own

    def _plan(self, own: Prepared | None) -> Plan:
        wishes = Wishes(
            suite=self.options["suite"] or "tabular",
            formats=self.options["formats"],
            datasets=self.options["datasets"],
            rows=self.options["rows"],
            codecs=self.options["codecs"],
            threads=self.options["threads"],
        )
        made = plan(wishes, [(own.name, own.rows)] if own else ())
        for sentence in made.left_out:
            self.shown.print(f"left out: {sentence}", soft_wrap=True)
        return made

    def _measure(self, made: Plan, scratch: Path, own: Prepared | None) -> None:
        repeats: int | None = self.options["repeats"]
        runner = Runner(
            self.out,
            scratch,
            rounds=min(ROUNDS, repeats or ROUNDS),
            repeats=repeats or MIN_REPEATS,
            budget_seconds=0 if repeats else BUDGET_SECONDS,
            time_budget_seconds=self.options["time_budget"] or float("inf"),
            steps=_steps(cold=self.options["cold"]),
            prepared={own.name: own.place} if own else {},
        )
        columns = columns_of(made.cases[0].suite, cold=self.options["cold"])
        watch = Stopwatch(runner.read())
        left = runner.left(made.cases)
        try:
            with Display(self.shown, made.cases, left, columns, runner.read()) as display:
                runner.watch = display.begin
                for record in runner.run(made.cases):
                    watch.add(record)
                    display.add(record)
                    if self.options["as_json"]:
                        click.echo(json.dumps(asdict(record)))
        finally:
            self._tell_unfinished(runner, made)
        if not self.options["as_json"]:
            run_report.show(runner.read(), made.cases, columns, self.out)
            self.shown.print(watch.text())
        if self.options["report"]:
            self.shown.print(f"report: {run_report.write(self.out)}", soft_wrap=True)

    def _tell_unfinished(self, runner: Runner, made: Plan) -> None:
        left = runner.left(made.cases)
        if left:
            steps = f"{len(left)} step{'s are' if len(left) > 1 else ' is'} left"
            told = f"{steps}; what is measured is in {self.out}, and the same command goes on"
            self.shown.print(told, soft_wrap=True)


def _steps(*, cold: bool) -> tuple[Step, ...]:
    return tuple(step for step in (*STEPS, *IMAGE_STEPS) if cold or step.cache != "cold")


def _one_source(data: str | None, webface: str | None) -> str | None:
    if data is not None and webface is not None:
        raise click.UsageError("--data and --webface exclude each other")
    return data if data is not None else webface
