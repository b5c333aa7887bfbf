"""Which format to use for a table, by measured tables that resemble it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from format_bench.cli.commands.recommend import preset_option, require_option, weight_option
from format_bench.cli.options import (
    load_source,
    measuring_console,
    taken_limits,
    taken_parse_dates,
    with_data_limits,
)
from format_bench.prediction.predicted import MeasuredTables, Prediction, Predictor
from format_bench.prediction.table_profile import profile_of
from format_bench.recommendation import Recommendation, Requirement, output, purposes, recommend, scoring
from format_bench.recommendation.scoring import PREDICTIONS
from format_bench.results.display.text import format_ratio, joined, plural
from format_bench.runner.reading_display import ReadingDisplay
from format_bench.runner.user_data import Source, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from format_bench.results.load import Results

DEFAULT = "reports/run"


@click.command
@click.argument("results", nargs=-1)
@click.option("--data", required=True, metavar="FILE", help="Your table.")
@preset_option
@weight_option
@require_option
@click.option("--explain", is_flag=True, help="Also show the ranking, ties, caveats and exclusions.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@with_data_limits
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    ctx: click.Context,
    /,
    results: tuple[str, ...],
    data: str,
    weighed: tuple[str, ...],
    required: tuple[str, ...],
    preset: str | None,
    explain: bool,  # noqa: FBT001 (a switch)
    as_json: bool,  # noqa: FBT001 (a switch)
    **limits: Any,
) -> None:
    """Predict a format for your table, without measuring it.

    Your table is profiled (kinds of columns, distinct values, nulls, lengths, order), and sizes and
    times follow from measured tables that resemble it. RESULTS are folders of results or bundles;
    reports/run by default. The answer names its error, and the command that measures your table.

    \b
    Examples:
      format-bench predict --data mine.csv
      format-bench predict reports/run theirs.bundle.gz --data mine.parquet --preset archive
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    data_limits, parse_dates = taken_limits(limits, data), taken_parse_dates(limits, data)
    source = Source(data, None, limits=data_limits, parse_dates=parse_dates)
    wish = purposes.Wish(scoring.parsed(weighed), tuple(map(Requirement, required)), preset)
    shown = measuring_console(quiet=ctx.obj["quiet"])
    answer, facts = answered(list(map(load_source, results or (DEFAULT,))), source, wish, shown)
    if as_json:
        whole = output.to_json(answer) | {"prediction": facts}
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        output.show(answer, quiet=ctx.obj["quiet"], explain=explain)


def answered(
    sources: Sequence[Results], source: Source, wish: purposes.Wish, shown: Console
) -> tuple[Recommendation, dict[str, Any]]:
    """Return the recommendation for a user's table by prediction, and its evidence as JSON values.

    Parameters
    ----------
    sources : sequence of Results
        Results with measured tables.
    source : Source
        The user's table.
    wish : Wish
        Weights and requirements.
    shown : Console
        For progress and remarks of reading.

    Raises
    ------
    FormatBenchError
        If the table cannot be read, or nothing can be predicted.
    """
    tables = MeasuredTables.of(sources)
    with ReadingDisplay(shown, source.path) as display:
        df = read_table(source, display, partial(shown.print, soft_wrap=True))
    name = Path(source.path.partition("::")[0]).stem
    found = Predictor(tables.tables).predict(profile_of(df), name)
    wanted = purposes.criteria_for(found.results, wish)
    answer = recommend(found.results, wanted.weights, wanted.requirements)
    measure = shlex.join(["format-bench", "recommend", "--data", source.path])
    remarks = [*_remarks(found, answer, measure), *wanted.caveats]
    if tables.left_out:
        remarks.append(f"not used: {joined(tables.left_out)}")
    caveats = [*remarks, *answer.caveats]
    answer = replace(answer, noise=PREDICTIONS, caveats=caveats, leading_caveats=len(remarks))
    return answer, _to_json(found, measure)


def _remarks(found: Prediction, answer: Recommendation, measure: str) -> list[str]:
    """Return the evidence of the prediction, its error, and the command that measures the table."""
    errors = [
        f"{each.phrase} by a factor of {format_ratio(found.errors[each])}"
        for each in answer.weights
        if each in found.errors
    ]
    names = "; ".join(f"{name} ({distance:.1f})" for name, distance in found.nearest)
    least, most = found.measured_rows
    far = f"measured tables have {least:,} to {most:,} rows: for yours the errors may be much larger"
    return [
        f"predicted from {plural(found.tables, 'table')}; the nearest, with distances: {names}",
        f"four of five left-out tables were missed by at most: {joined(errors, most=None)}"
        if errors
        else "the error is not known",
        *([far] if found.is_far else []),
        f"to measure it: {measure}",
    ]


def _to_json(found: Prediction, measure: str) -> dict[str, Any]:
    return {
        "tables": found.tables,
        "nearest": [{"table": name, "distance": distance} for name, distance in found.nearest],
        "is_far": found.is_far,
        "error_factors": {measure.option: factor for measure, factor in found.errors.items()},
        "measure": measure,
    }
