"""Results as a report."""

from __future__ import annotations

from pathlib import Path

import click

from format_bench.cli.sources import load_source
from format_bench.report import writers


@click.command
@click.argument("source", metavar="RESULTS", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    type=click.Choice(list(writers.WRITERS)),
    multiple=True,
    help="What to write; may be given several times. By default what --out ends in, or else html.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A file, whose ending says the format, or a folder for report.html and the like. By default"
    " the folder of the results.",
)
@click.pass_obj
def command(obj: dict[str, bool], source: Path, formats: tuple[str, ...], out: Path | None) -> None:
    """Make a report of results, to read, to print or to go on with.

    RESULTS is a folder that `format-bench run` or postprocessing.py wrote, a file of records, or a
    folder of asv's results, with #MACHINE after it for one of several machines.

    \b
    html  one page with all charts and tables, which opens without a network
    pdf   the same charts on A4 pages
    png   a folder of pictures, one for each chart
    csv   all cells, one a row
    md    the tables and the verdict, as Markdown
    xlsx  all cells, and a sheet for each metric

    \b
    Examples:
      format-bench report reports/run
      format-bench report reports/run --out run.pdf
      format-bench report reports/run --format html --format xlsx --out pages
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    paths = _paths(formats, out, source if source.is_dir() else source.parent)
    found = load_source(source)
    for each, path in paths.items():
        writers.write(found, each, path)
        if not obj["quiet"]:
            click.echo(path)


def _paths(formats: tuple[str, ...], out: Path | None, beside: Path) -> dict[str, Path]:
    """Return where each format goes."""
    ending = out.suffix[1:] if out else ""
    if out is None or ending not in writers.WRITERS:
        return {each: writers.path_of(each, out or beside) for each in formats or ("html",)}
    if set(formats) - {ending}:
        raise click.UsageError(f"--out {out} is for {ending} alone; name a folder for several formats")
    return {ending: out}
