"""Study of repeats: the spread of each value when a whole measurement is repeated."""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from format_bench.results.candidates import Configuration
from format_bench.results.display.text import quantity
from format_bench.results.suites import SUITES
from format_bench.runner.plan import RunRequest, plan
from format_bench.runner.runner import Limits, Runner

if TYPE_CHECKING:
    from format_bench.results.records import Record

STEPS = ("save", "read")


def spread(values: Sequence[float]) -> float:
    """Return the difference of the largest and the smallest value, relative to the median.

    It is 0 if all values are equal, also if they are 0.
    """
    difference = max(values) - min(values)
    return difference / statistics.median(values) if difference else 0.0


def lines_of(repeats: Sequence[Iterable[Record]]) -> list[str]:
    """Return a line for each cell: its median, its spread, and the value of each repeat, or the reason.

    Parameters
    ----------
    repeats : sequence of iterable of Record
        The records of each repeat.
    """
    cells: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for records in repeats:
        for each in records:
            cells[f"{Configuration.of(each)}", each.metric].append(each)
    lines = [f"{'cell':44}{'median':>10}{'spread':>9}  values"]
    for (name, metric), found in cells.items():
        values = [each.value for each in found if each.value is not None]
        cell = f"{name} {metric}"
        if len(values) < len(repeats):
            gap = next(each for each in found if each.value is None)
            lines.append(f"{cell:44} {gap.status}: {gap.sentence}")
            continue
        texts = "  ".join(quantity(each, found[0].unit) for each in values)
        median = quantity(statistics.median(values), found[0].unit)
        lines.append(f"{cell:44}{median:>10}{spread(values):>9.1%}  {texts}")
    return lines


@click.command
@click.argument("labels", nargs=-1, required=True, metavar="FORMAT...")
@click.option(
    "--suite", type=click.Choice(list(SUITES)), default="records", show_default=True, help="Suite."
)
@click.option("--dataset", help="Name of the data set.  [default: the first of the suite]")
@click.option("--rows", type=click.IntRange(min=1), help="Rows.  [default: as in run]")
@click.option("--codecs", default="none", show_default=True, help="As in none,zstd:3.")
@click.option("--times", type=click.IntRange(min=2), default=5, show_default=True, help="Repeats.")
def command(  # noqa: PLR0913, PLR0917 (one for each option)
    labels: tuple[str, ...], suite: str, dataset: str | None, rows: int | None, codecs: str, times: int
) -> None:
    """Measure formats several times, and print the spread of each value.

    Each repeat saves and reads anew, in fresh processes, as a run does; a value is the median of its
    samples. The spread is the difference of the largest and the smallest value, relative to their
    median. All formats are measured once, then all again.

    \b
    Examples:
      format-bench study repeats "Kryo[jvm]" "Parquet.specific[jvm]" Protobuf --rows 100000
      format-bench study repeats Parquet Feather --suite tabular --times 3
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    datasets = (dataset,) if dataset else ()
    choices = tuple(codecs.split(","))
    request = RunRequest(suite=suite, formats=labels, datasets=datasets, rows=rows, codecs=choices)
    wanted = plan(request)
    with tempfile.TemporaryDirectory() as folder:
        repeats = []
        for number in range(1, times + 1):
            click.echo(f"repeat {number} of {times}", err=True)
            runner = Runner(Path(folder, str(number)), Path(folder), Limits(), steps=STEPS)
            repeats.append(list(runner.run(wanted.cases)))
    click.echo("\n".join(lines_of(repeats)))
