"""Turns asv's newest results into comparison tables: printed, and written as CSV and Markdown."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from adapter_core.errors import FormatBenchError
from format_bench.asv_results import Run, newest_run
from format_bench.comparison import BEST, Table, comma_separated, markdown, tables


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default="asv.conf.json",
    show_default=True,
    help="asv's configuration, which says where the results are.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the tables; by default `report` beside the results.",
)
@click.option(
    "--measured-share",
    is_flag=True,
    help="Only print how much of the run's duration, as asv recorded it, was measured time.",
)
def main(config: Path, out: Path | None, measured_share: bool) -> None:  # noqa: FBT001 (a switch)
    """Compare formats by the newest results of asv.

    Prints a table for each data set, formats by metrics, the best of each metric marked with an
    asterisk; writes the same as comparison.md, and all values as comparison.csv.
    """
    from asv.config import Config

    results_dir = config.parent / Config.load(str(config)).results_dir
    try:
        run = newest_run(results_dir)
    except FormatBenchError as error:
        click.echo(f"postprocessing: {error}", err=True)
        sys.exit(2)
    if measured_share:
        click.echo(
            f"measured {run.measured_seconds:.1f} s of {run.spent_seconds:.1f} s: "
            f"{run.measured_share:.2f}"
        )
        return
    found = tables(run.cells)
    _print(found)
    out = out or results_dir.parent / "report"
    _write(run, found, out)
    click.echo(f"Written: {out / 'comparison.md'} and {out / 'comparison.csv'}")


def _print(found: list[Table]) -> None:
    console = Console()
    for table in found:
        shown = RichTable(title=table.title, title_justify="left")
        for position, name in enumerate(table.header):
            shown.add_column(name, justify="right" if position else "left")
        for row in table.rows:
            shown.add_row(*[Text(text, "bold green" if text.endswith(BEST) else "") for text in row])
        console.print(shown)
        for number, note in enumerate(table.notes, start=1):
            console.print(f"[{number}] {note}", markup=False, highlight=False)
    console.print(f"{BEST} best of the metric; smaller is better", markup=False)


def _write(run: Run, found: list[Table], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    heading = f"# Comparison\n\nCommit {run.commit[:8]} on {run.machine}, {run.environment}.\n\n"
    text = heading + "\n".join(markdown(table) for table in found)
    for name, content in (
        ("comparison.md", text + f"\n{BEST} best of the metric; smaller is better.\n"),
        ("comparison.csv", comma_separated(run.cells)),
    ):
        temporary = out / f"{name}.partial"
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(out / name)


if __name__ == "__main__":
    main()
