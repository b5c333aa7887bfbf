"""Results as a report."""

from __future__ import annotations

from pathlib import Path

import click

from format_bench.cli.options import load_source
from format_bench.report import writers


@click.command
@click.argument("source", metavar="RESULTS", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    type=click.Choice(list(writers.WRITERS)),
    multiple=True,
    help="Output format; repeatable. [default: from the suffix of --out, or html]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Output file, or folder for report.html etc. [default: the folder of the results]",
)
@click.pass_obj
def command(obj: dict[str, bool], source: Path, formats: tuple[str, ...], out: Path | None) -> None:
    """Write a report: HTML, PDF, pictures, CSV, Excel or Parquet.

    RESULTS is a folder that `format-bench run` or postprocessing.py wrote, a file of records, or a
    folder of asv's results; append #MACHINE to choose one of several machines.

    \b
    html  one page with all charts and tables; needs no network
    pdf   the same charts on A4 pages
    png   a folder of pictures, one for each chart, in twice its size
    svg   the same folder of pictures as SVG
    csv   all cells, one per row
    md    the tables and the verdict, as Markdown
    xlsx  all cells, and a sheet for each metric
    parquet  all cells with samples, a description of each column, and versions, as one file to cite

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
    # A folder may have a dot in its name, as in v1.2.
    if out and ending.isalpha() and ending not in writers.WRITERS and not out.is_dir():
        known = ", ".join(f".{each}" for each in writers.WRITERS)
        raise click.UsageError(f"--out {out}: no report is a .{ending} file; known are {known}")
    if out is None or ending not in writers.WRITERS:
        return {each: writers.path_of(each, out or beside) for each in formats or ("html",)}
    if set(formats) - {ending}:
        raise click.UsageError(f"--out {out} is for {ending} alone; name a folder for several formats")
    return {ending: out}
