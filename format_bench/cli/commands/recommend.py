"""Which format to use, from results."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from adapter_core.error_bounds import ErrorBound
from adapter_core.files import write_atomically
from format_bench.cli.help import Section, SectionedCommand
from format_bench.cli.options import (
    Duration,
    Name,
    Names,
    condition_names,
    dataset_names,
    is_of_records,
    known_readers,
    load_source,
    measuring_console,
    metric_names,
    schema_option,
    taken_limits,
    taken_parse_dates,
    taken_schema,
    with_data_limits,
)
from format_bench.conditions import axes
from format_bench.racing import output as race_output
from format_bench.racing.session import RaceRequest, race
from format_bench.recommendation import (
    Recommendation,
    Requirement,
    cost,
    output,
    purposes,
    questions,
    scope,
    scoring,
)
from format_bench.recommendation.evidence import evidence_on
from format_bench.recommendation.requirements import LANGUAGES, MEANINGS, ReadBy, Required
from format_bench.recommendation.scoring import Speeds
from format_bench.results.load import PRICES, Results
from format_bench.results.records import Record
from format_bench.results.suites import SUITES
from format_bench.runner.executor import TimeBudget
from format_bench.runner.user_data import Source

DEFAULT = "reports/run"

# Rows, or images, of own data that are measured for a recommendation.
SAMPLE = 100_000

# Time of a race of formats on own data.
BUDGET_SECONDS = 60

_NAMES = "\n".join(f"  {name:15} {meaning}" for name, meaning in MEANINGS.items())
_PURPOSES = "\n".join(f"  {name:15} {each.purpose}" for name, each in purposes.PRESETS.items())

HELP = f"""Recommend a format, from results or for your own data.

RESULTS is a folder or a file of results, or the name of published ones; {DEFAULT} by default. A folder
of asv's results stands for its newest run; append #MACHINE for the newest run on one machine. Without
weights and preset, save time, read time and size have the same weight.

\b
Examples:
  format-bench recommend --weight read_time=3 --weight size=1 --require exact
  format-bench recommend reports/run --preset archive
  format-bench recommend --data mine.csv --preset analytics
  format-bench recommend --data mine.jsonl --suite records --language python
  format-bench recommend thesis --preset cache --weight size=0.5 --json
  format-bench recommend --preset archive --readers pyarrow-15,duckdb
  format-bench recommend --suite query --question point=100 --question group-few=10

\b
Properties for --require:
{_NAMES}

\b
Presets; --weight and --require change and add to them:
{_PURPOSES}
"""


def _print_example(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 (a switch)
    if wanted:
        click.echo(cost.example(), nl=False)
        ctx.exit()


preset_option = Section.CHOICE.option(
    "--preset", type=click.Choice(list(purposes.PRESETS)), help="Weights for a purpose."
)
weight_option = Section.CHOICE.option(
    "--weight",
    "weighed",
    multiple=True,
    type=Name(metric_names, end="="),
    metavar="METRIC=NUMBER",
    help="Weight of a metric, e.g. read_time=3 or size=1.",
)
require_option = Section.CHOICE.option(
    "--require",
    "required",
    multiple=True,
    type=click.Choice([str(each) for each in Requirement]),
    metavar="PROPERTY",
    help="A property that the format must have.",
)


@click.command(cls=SectionedCommand, help=HELP)
@click.argument("results", required=False)
@Section.DATA.option(
    "--data",
    metavar="FILE|FOLDER",
    help="Race the formats on your own table, images or array, and keep the results in reports.",
)
@schema_option
@with_data_limits
@Section.DATA.option(
    "--suite",
    type=Name(lambda: SUITES),
    help="Use the results of this suite; with --data, records alone: read the file as such. "
    "[default: the first that has all weighted metrics]",
)
@Section.DATA.option(
    "--dataset", type=Name(dataset_names), help="Use the results on this data set alone. [default: all]"
)
@Section.DATA.option(
    "--under",
    "conditions",
    multiple=True,
    type=Name(condition_names, end="="),
    metavar="AXIS=VALUE",
    help="Use the results under this condition alone, e.g. medium=tmpfs. [default: all]",
)
@Section.DATA.option("--medium", help="Short for --under medium=VALUE.")
@preset_option
@weight_option
@Section.CHOICE.option(
    "--question",
    "asked",
    multiple=True,
    metavar="QUESTION=NUMBER",
    help="How often a question of a suite with queries is asked. Their mean time counts as query_time "
    "or cold_query_time, with weight 1 unless you give one.",
)
@require_option
@Section.CHOICE.option(
    "--readers",
    type=Names(known_readers),
    default=(),
    help="Libraries and programs that must read the files, e.g. pyarrow-15,duckdb; `compatible` lists "
    "what they read.",
)
@Section.CHOICE.option(
    "--language",
    type=click.Choice(["any", *map(str, LANGUAGES)]),
    default="any",
    help="Language of your program; short for --require with its name.",
)
@Section.CHOICE.option(
    "--allow-lossy", is_flag=True, help="Also choose from formats and codecs that change values."
)
@Section.CHOICE.option(
    "--max-error",
    metavar="BOUND",
    help="Also choose from files whose floats differ by so much at most: 1e-3, rel 1e-3, bits 99 %.",
)
@Section.CHOICE.option(
    "--read-speed",
    type=float,
    metavar="MB/S",
    help="Files are read over a link, or from a disk, of this speed: adds size / speed to read times.",
)
@Section.CHOICE.option(
    "--save-speed",
    type=float,
    metavar="MB/S",
    help="Files are saved over a link, or to a disk, of this speed: adds size / speed to save times.",
)
@Section.CHOICE.option(
    "--cloud",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PRICES.TOML",
    help="Also say what a month and a year cost at these prices, for your number of saves and reads.",
)
@Section.HOW.option(
    "--time-budget",
    "budget_seconds",
    type=Duration(),
    help=f"Time for --data, e.g. 5m, after which the race ends. [default: {BUDGET_SECONDS}s]",
)
@Section.HOW.option("--thorough", is_flag=True, help="With --data: try all codecs at all levels.")
@Section.OUTPUT.option(
    "--explain", is_flag=True, help="Also show the ranking, ties, caveats, exclusions and all evidence."
)
@Section.OUTPUT.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@Section.OUTPUT.option(
    "--cloud-example",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_example,
    help="Print a file of prices to edit, and exit.",
)
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    ctx: click.Context,
    /,
    results: str | None,
    data: str | None,
    schema: Path | None,
    weighed: tuple[str, ...],
    asked: tuple[str, ...],
    required: tuple[str, ...],
    readers: tuple[str, ...],
    language: str,
    allow_lossy: bool,  # noqa: FBT001 (a switch)
    max_error: str | None,
    preset: str | None,
    dataset: str | None,
    conditions: tuple[str, ...],
    medium: str | None,
    suite: str | None,
    read_speed: float | None,
    save_speed: float | None,
    budget_seconds: float | None,
    cloud: Path | None,
    thorough: bool,  # noqa: FBT001 (a switch)
    explain: bool,  # noqa: FBT001 (a switch)
    as_json: bool,  # noqa: FBT001 (a switch)
    **limits: Any,
) -> None:
    """Print a recommendation."""
    mix = questions.parsed(asked)
    own = questions.weighed(scoring.parsed(weighed), mix)
    speeds = Speeds.of_megabytes(read_speed, save_speed)
    properties = dict.fromkeys([*required, *([] if language == "any" else [language])])
    needed: list[Required] = [*map(Requirement, properties)]
    needed += [ReadBy.of(readers)] if readers else []
    bound = _error_bound(max_error) if max_error is not None else None
    wish = purposes.Wish(own, tuple(needed), preset, speeds, allow_lossy, bound)
    data_limits, parse_dates = taken_limits(limits, data), taken_parse_dates(limits, data)
    own_schema = taken_schema(schema, data, suite)
    prices = cloud and cost.read_cloud(cloud)
    others: list[Record] = []
    about_race: dict[str, Any] = {}
    if data is not None:
        is_records = is_of_records(suite)
        if any((results, dataset, conditions, medium, mix)) or (suite and not is_records):
            raise click.UsageError(
                "--data cannot be combined with RESULTS, --dataset, --under, --medium, --question "
                "or another --suite than records"
            )
        source = Source(
            data,
            SAMPLE,
            parse_dates=parse_dates,
            limits=data_limits,
            as_records=is_records,
            schema=own_schema,
        )
        budget = TimeBudget(budget_seconds or BUDGET_SECONDS, spent_seconds=ctx.obj["spent_seconds"])
        request = RaceRequest(source, wish, thorough)
        answer, about_race = _raced(request, budget, quiet=ctx.obj["quiet"])
        if cloud:
            # The report of these results has the costs, too.
            with write_atomically(request.out / PRICES) as copy:
                shutil.copyfile(cloud, copy)
        whole = load_source(str(request.out)) if explain or as_json else None
    else:
        if budget_seconds is not None or thorough:
            raise click.UsageError("--time-budget and --thorough need --data")
        found = whole = load_source(results or DEFAULT)
        for each in (*conditions, *([f"medium={medium}"] if medium else [])):
            found = _under(found, each)
        if dataset is not None:
            found = scope.of_dataset(found, dataset)
        others = found.records
        answer = questions.answered(questions.mixed(found, mix, suite), wish, suite)
        answer = replace(answer, caveats=[*questions.sentences(mix), *answer.caveats])
    bill = prices and cost.bill(answer, others, prices)
    evidence = evidence_on(answer, whole) if whole and (explain or as_json) else []
    if as_json:
        costs = {"cost": output.bill_to_json(bill)} if bill else {}
        facts = output.to_json(answer, evidence) | about_race | costs
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        output.show(answer, quiet=ctx.obj["quiet"], explain=explain, evidence=evidence)
        if bill:
            output.show_bill(bill, quiet=ctx.obj["quiet"])


def _error_bound(text: str) -> ErrorBound:
    try:
        return ErrorBound.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--max-error") from error


def _under(results: Results, condition: str) -> Results:
    """Return the results under a condition: AXIS=VALUE as `run` takes it, or as records have it."""
    name, _, value = (part.strip() for part in condition.partition("="))
    axis = axes().get(name := name.replace("-", " "))
    # Records may have labels that no option takes, e.g. those that earlier versions wrote.
    if axis and value not in {each.conditions.get(name) for each in results.records}:
        value = axis.parse(value)
    return scope.of_condition(results, name, value)


def _raced(
    request: RaceRequest, budget: TimeBudget, *, quiet: bool
) -> tuple[Recommendation, dict[str, Any]]:
    """Race the formats on own data; return the recommendation, and the race as JSON values."""
    with race_output.RaceDisplay(measuring_console(quiet=quiet)) as display:
        found = race(request, display, budget)
    return race_output.recommendation(found), {"race": race_output.to_json(found)}
