"""Study of codecs: every codec of a format at several levels.

The runner measures and keeps the records, so a study that was killed resumes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress

from adapter_core.availability import import_failure
from adapter_core.files import write_atomically
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.results import noise_floor
from format_bench.results.candidates import Configuration
from format_bench.results.display.markdown import markdown
from format_bench.results.load import RESULTS
from format_bench.results.marks import symbols
from format_bench.results.records import key
from format_bench.runner.recording import keys
from format_bench.runner.runner import Limits, Runner
from format_bench.studies.codec_grid import picture
from format_bench.studies.codec_grid import tables as grid_tables
from format_bench.studies.codec_grid.tables import STEPS, cases, measured_steps

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.results.noise_floor import Floors

# Wall time of the repeats of one step in one round; three repeats are the least.
BUDGET_SECONDS = 1.0

PAGE = "grid.md"

_LEGEND = """\
ratio, also in brackets: size by the size without compression. added: difference of the medians to
those without compression, and the interval in which it lies. Reads are warm. {marks} In the first table
the formats of a column are compared with each other, in the others the codecs of a format."""


def measure(runner: Runner, wanted: list[Case], *, quiet: bool = False) -> None:
    """Measure the cells that the results lack, with a progress bar on a terminal unless `quiet`."""
    cells = {each for case in wanted for step in measured_steps(case) for each in keys(case, step)}
    done = sum(min(each.rounds, runner.limits.rounds) for each in runner.read() if key(each) in cells)
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=len(cells) * runner.limits.rounds, completed=done)
        for record in runner.run(wanted):
            last = Configuration.of(record)
            progress.update(task, advance=1, description=f"measured: {last}")


def page(cells: grid_tables.Cells, title: str, floors: Floors | None = None) -> str:
    """Return title, tables and legend in Markdown: a table of all formats, then one per format."""
    found = [grid_tables.table(cells, floors), *grid_tables.tables(cells, floors)]
    tables = "\n".join(markdown(each, padded=True) for each in found)
    legend = _LEGEND.format(marks=symbols(floors).replace("*", "\\*"))
    return f"# {title}\n\n{tables}\n{legend}\n"


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

    Measures size, save time and read time. FORMATs are by default all usual formats that have
    codecs. Prints a table for each format, and writes the tables to grid.md, a picture to grid.svg
    and grid.png, and all records to results.jsonl. Without --full the levels are the lowest, the
    default and the highest, and every sixth in ranges of more than 12. The same command resumes a
    study that was interrupted.

    \b
    Examples:
      format-bench study codecs Parquet Feather --rows 1000000
      format-bench study codecs Parquet --full --dataset webface
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    wanted = cases(labels, dataset, rows, full=full)
    runner = Runner(
        out,
        scratch or Path(tempfile.gettempdir()),
        # Divided among the rounds: each is as thorough as one alone.
        Limits(rounds, rounds * MIN_REPEATS, rounds * BUDGET_SECONDS),
        steps=STEPS,
    )
    measure(runner, wanted, quiet=bool(settings and settings["quiet"]))
    cells = grid_tables.by_case(wanted, runner.read())
    _write(cells, f"Codecs and levels: {dataset}, {rows:,} rows", out)


def _write(cells: grid_tables.Cells, title: str, out: Path) -> None:
    text = page(cells, title, noise_floor.beside(out / RESULTS))
    click.echo(text, nl=False)
    with write_atomically(out / PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    reason = import_failure("matplotlib")
    if reason:
        hint = 'pip install ".[report]"'
        click.echo(f"codecs: no picture, since {reason}; try: {hint}", err=True)
    else:
        picture.draw(cells, title, out)
