"""Comparison tables of asv's newest results: postprocessing.py as a script."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from adapter_core.errors import FormatBenchError
from adapter_core.files import write_atomically
from format_bench.asv_support import comparison
from format_bench.asv_support.comparison import comma_separated, legend, tables
from format_bench.asv_support.records import records_of
from format_bench.asv_support.results import Run, newest_run
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.display.markdown import Table, markdown
from format_bench.display.marks import BEST, TIE
from format_bench.metadata import run_metadata
from format_bench.results import export, noise_floor

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


STYLES = {BEST: "bold green", TIE: "green"}
"""How a cell is printed, by its mark."""


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
    help="Only print how much of the run's duration, as asv recorded it, was measured time. asv keeps "
    "the duration of the last run alone, so if that measured some cells only, or appended samples, the "
    "share is too high.",
)
@click.option(
    "--noise",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Noise floors, as `format-bench study noise --out` writes them; by default "
    "noise.json "
    "beside the results, if it is there.",
)
def command(config: Path, out: Path | None, measured_share: bool, noise: Path | None) -> None:  # noqa: FBT001 (a switch)
    """Compare formats by the newest results of asv.

    Prints tables for each data set, formats by metrics, the best of each metric marked with an asterisk
    and ties with it by an equals sign; writes the same as comparison.md, all values as comparison.csv,
    all samples as records.jsonl and records.parquet, and the circumstances of the run as
    circumstances.json.
    """
    from asv.config import Config

    results_dir = config.parent / Config.load(str(config)).results_dir
    try:
        run = newest_run(results_dir)
        noise = noise or results_dir.parent / "noise.json"
        floors = noise_floor.read(noise) if noise.exists() else None
    except FormatBenchError as error:
        click.echo(f"postprocessing: {error}", err=True)
        sys.exit(2)
    if measured_share:
        click.echo(
            f"measured {run.measured_seconds:.1f} s of {run.spent_seconds:.1f} s: "
            f"{run.measured_share:.2f}"
        )
        return
    found = tables(run.cells, floors) + comparison.compression_tables(run.cells, floors)
    _print(found, floors)
    out = out or results_dir.parent / "report"
    _write(run, found, legend(floors), out)
    _write_records(run, AsvMetadataFile(results_dir, run.environment).newest(run.commit), out)
    click.echo(f"Written: {', '.join(sorted(path.name for path in out.iterdir()))} in {out}")


def _print(found: list[Table], floors: Floors | None) -> None:
    console = Console()
    for table in found:
        shown = RichTable(title=table.title, title_justify="left")
        for position, name in enumerate(table.header):
            shown.add_column(name, justify="right" if position else "left")
        for row in table.rows:
            shown.add_row(*[Text(text, STYLES.get(text.partition(" [")[0][-1:], "")) for text in row])
        console.print(shown)
        for number, note in enumerate(table.notes, start=1):
            console.print(f"[{number}] {note}", markup=False, highlight=False)
    console.print(legend(floors), markup=False, highlight=False)


def _write(run: Run, found: list[Table], legend: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    heading = f"# Comparison\n\nCommit {run.commit[:8]} on {run.machine}, {run.environment}.\n\n"
    text = heading + "\n".join(markdown(table) for table in found)
    for name, content in (
        ("comparison.md", f"{text}\n{legend}\n"),
        ("comparison.csv", comma_separated(run.cells)),
    ):
        with write_atomically(out / name) as temporary:
            temporary.write_text(content, encoding="utf-8")


def _write_records(run: Run, found: dict[str, Any], out: Path) -> None:
    run_metadata.write(found, out / "circumstances.json")
    cells = records_of(run, found)
    for ending in (".jsonl", ".parquet"):
        export.export(cells, out / f"records{ending}")
