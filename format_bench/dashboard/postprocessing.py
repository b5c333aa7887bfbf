"""Comparison tables of asv's newest results: postprocessing.py as a script."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from adapter_core import FormatBenchError
from adapter_core.files import write_atomically
from format_bench.asv_support.results import AsvCell, Run, newest_run, records_of
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.metadata import run_metadata
from format_bench.report.model import results_by_suite
from format_bench.report.queries import query_tables
from format_bench.results import export
from format_bench.results.candidates import Configuration
from format_bench.results.display import terminal
from format_bench.results.display.markdown import TextTable, markdown
from format_bench.results.disturbance import Disturbance
from format_bench.results.groups import ComparisonGroup
from format_bench.results.load import Results
from format_bench.results.marks import SYMBOLS
from format_bench.results.metrics import Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Record
from format_bench.results.self_check import SelfCheck
from format_bench.results.suites import suite_order
from format_bench.results.table import ResultTable, codec_table, measured_column, style_of, text_table


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default="asv.conf.json",
    show_default=True,
    help="asv's configuration, which contains the folder of the results.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the tables; by default `report` beside the results.",
)
@click.option(
    "--measured-share",
    is_flag=True,
    help="Only print how much of the run's duration, as asv recorded it, was time on the clock. "
    "Durations of runs of some cells each add up; of runs that appended samples asv keeps the last "
    "alone, and the share is too high.",
)
@click.option("--noise", hidden=True, help="Without effect: the rounds of a run show its noise.")
def command(config: Path, out: Path | None, measured_share: bool, noise: str | None) -> None:  # noqa: ARG001, FBT001 (a switch; an earlier option)
    """Compare formats by the newest results of asv.

    Prints tables for each data set, formats by metrics, with an asterisk at the best of each metric and
    an equals sign at ties with it. Writes the tables to comparison.md, all values to comparison.csv, all
    samples to records.jsonl and records.parquet, and the metadata of the run to circumstances.json.
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
            f"{run.measured_share:.2f}; {run.sampled_seconds:.1f} s of it in samples of saves and reads"
        )
        return
    metadata = AsvMetadataFile(results_dir, run.environment).newest(run.commit)
    records = records_of(run, metadata)
    results = Results(run.machine, records, [metadata])
    found, banner = tables(results), Disturbance.of(results).banner
    to = terminal.console()
    if banner:
        terminal.prose(to, banner)
        to.print()
    for table in found:
        terminal.text_table(to, table, style_of)
        to.print()
    notes = [SYMBOLS, *filter(None, [str(SelfCheck.of(records))])]
    to.print("\n".join(notes))
    out = out or results_dir.parent / "report"
    out.mkdir(parents=True, exist_ok=True)
    _write_comparison(run, records, found, banner, "\n\n".join(notes).replace("*", "\\*"), out)
    _write_records(records, metadata, out)
    click.echo(f"Written: {', '.join(sorted(path.name for path in out.iterdir()))} in {out}")


def _write_comparison(  # noqa: PLR0913, PLR0917 (the parts of a page)
    run: Run, records: list[Record], found: list[TextTable], banner: str, legend: str, out: Path
) -> None:
    heading = f"# Comparison\n\nCommit {run.commit[:8]} on {run.machine}, {run.environment}.\n\n"
    heading += f"**{banner}**\n\n" if banner else ""
    text = heading + "\n".join(markdown(table) for table in found)
    for name, content in (
        ("comparison.md", f"{text}\n{legend}\n"),
        ("comparison.csv", cells_as_csv(run.cells, records)),
    ):
        with write_atomically(out / name) as temporary:
            temporary.write_text(content, encoding="utf-8")


def _write_records(records: list[Record], metadata: dict[str, Any], out: Path) -> None:
    run_metadata.write(metadata, out / "circumstances.json")
    for ending in (".jsonl", ".parquet"):
        export.export(records, out / f"records{ending}")


# End of the names of metrics that include imports and the table to save.
PROCESS_PEAK = "peak memory"


def tables(results: Results) -> list[TextTable]:
    """Return tables for each data set of each suite, in the order of the results.

    Configurations with codecs have one table for each data set. All others have one of times, one of
    random access and one of the rest, which together would be too wide. Peak memory of whole processes
    is left out: the growth during the call is the better measure. Queries have a table for each metric
    and track.
    """
    found: list[TextTable] = []
    for suite in sorted(results_by_suite(results), key=lambda each: suite_order(each.name)):
        for group in suite.groups:
            if any(each.codec and not each.track for each in group.configurations):
                found.append(_codec_table(group))
            else:
                found += _tables_by_kind(group)
            for table in query_tables(group):
                found.append(text_table(table.title, table.numbers()))
    return found


def _tables_by_kind(group: ComparisonGroup) -> Iterator[TextTable]:
    by_kind: dict[str, list[Measure]] = {}
    for measure in group.measures:
        if not measure.metric.endswith(PROCESS_PEAK):
            by_kind.setdefault(_kind(measure), []).append(measure)
    for kind, measures in by_kind.items():
        columns = [(str(each), measured_column(group, each)) for each in measures]
        yield text_table(
            f"{group.name}: {kind}", ResultTable.of(group.configurations, columns, losses=group.losses)
        )


def _kind(measure: Measure) -> str:
    if measure.unit != "seconds":
        return "size, memory and losses"
    is_random = measure.metric == "open time" or " per " in measure.metric
    return "random access" if is_random else "time"


def _codec_table(group: ComparisonGroup) -> TextTable:
    """Return the table of codecs, sorted by codec, so that formats with the same one are neighbours."""
    ordered = sorted(
        group.configurations, key=lambda each: (each.codec or "", each.level or 0, each.sort_key)
    )
    found = codec_table(group, ordered)
    lead = {"format": lambda each: each.format, "codec": _codec}
    return text_table(f"{group.dataset}: compression", found, lead)


def _codec(configuration: Configuration) -> str:
    level = "" if configuration.level is None else f" {configuration.level}"
    return f"{configuration.codec or 'none'}{level}"


_NOT_IN_CSV = {"axes", "samples", "round_sizes", "cpu_samples", "loop_samples", "track", "settings"}


def cells_as_csv(cells: Iterable[AsvCell], records: Sequence[Record]) -> str:
    """Return all cells as CSV, a row each; an empty cell has no value but a status and a sentence.

    The column `noise` has the relative difference from another run that chance explains, of times.

    Parameters
    ----------
    cells : iterable of AsvCell
        The cells of a run.
    records : sequence of Record
        Their records, in the same order.
    """
    text = io.StringIO()
    names = [field.name for field in fields(AsvCell) if field.name not in _NOT_IN_CSV]
    writer = csv.DictWriter(text, [*names, "noise"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    of_run = RunNoise(records)
    for cell, record in zip(cells, records, strict=True):
        noise = of_run.of_cell(record)
        writer.writerow({**asdict(cell), "noise": "" if noise is None else f"{noise:.3g}"})
    return text.getvalue()
