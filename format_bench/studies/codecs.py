"""Study of codecs: a run with every codec of a format at several levels, and its page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from adapter_core.availability import import_failure
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.report.writers import png
from format_bench.results.display.terminal import Output
from format_bench.results.load import load
from format_bench.results.records import key
from format_bench.runner.plan import RunRequest
from format_bench.runner.result_store import keys
from format_bench.runner.runner import Limits
from format_bench.runner.session import measure
from format_bench.studies.declared.study import read

# Wall time of the repeats of one step in one round, less than a run's: there are hundreds of cases.
BUDGET_SECONDS = 1.0

STEPS = ("save", "read")
PAGE = "grid.md"


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--dataset", default="eq", show_default=True, help="Name of the table.")
@click.option("--rows", default=100_000, show_default=True, help="Rows of the table.")
@click.option("--full", is_flag=True, help="Measure all levels.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Rounds of measurements of all cases; 3 suit a busy machine.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="reports/grid",
    show_default=True,
    help="Folder for tables, pictures and results; cases in its results are not measured again.",
)
@click.option(
    "--scratch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder for the measured files.",
)
@click.pass_obj
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    settings: dict[str, bool] | None,
    /,
    labels: tuple[str, ...],
    dataset: str,
    rows: int,
    full: bool,  # noqa: FBT001 (a switch)
    rounds: int,
    out: Path,
    scratch: Path | None,
) -> None:
    """Measure every codec at several levels.

    Measures size, save time and read time, as ``format-bench run --codecs all`` does. FORMATs are by
    default all usual formats that have codecs. Prints a page with a table for each format, and writes
    it to grid.md, its picture to grid.svg and grid.png, and all records to results.jsonl. Without
    --full the levels are the lowest, the default and the highest, and every sixth in ranges of more
    than 12. The same command resumes a study that was interrupted.

    \b
    Examples:
      format-bench study codecs Parquet Feather --rows 1000000
      format-bench study codecs Parquet --full --dataset webface
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    request = RunRequest(
        formats=labels,
        datasets=(dataset,),
        rows=rows,
        codecs=("all:all" if full else "all",),
        steps=STEPS,
        scratch=scratch,
        out=out,
    )
    shown = Output(stderr=True, quiet=bool(settings and settings["quiet"]))
    shown.quiet |= not shown.is_terminal  # formats without codecs are no news in a file
    # Divided among the rounds: each is as thorough as one alone.
    limits = Limits(rounds, rounds * MIN_REPEATS, rounds * BUDGET_SECONDS)
    found = measure(request, shown, on_own=lambda _: None, on_record=lambda _: None, limits=limits)
    of_step = [(case, step) for case in found.cases for step in case.steps if step.name in STEPS]
    wanted = dict.fromkeys(each for case, step in of_step for each in keys(case, step))
    results = load(out)
    records = {key(each): each for each in results.records}
    # In the order of the formats' own codecs.
    results = replace(results, records=[records[each] for each in wanted if each in records])
    page = read("codecs").page(results)
    page = replace(page, title=f"{page.title}: {dataset}, {rows:,} rows")
    if reason := import_failure("matplotlib"):
        click.echo(f'codecs: no picture, since {reason}; try: pip install ".[report]"', err=True)
        page = replace(page, chart=None)
    page.write(out / PAGE)
    if page.chart:
        png.save(page.chart, (out / PAGE).with_suffix(".png"))
    click.echo((out / PAGE).read_text(encoding="utf-8"), nl=False)
