"""Summary of a run that has ended, and the report that it may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.cli import data_summary
from format_bench.display import terminal
from format_bench.results import noise_floor
from format_bench.results.load import RESULTS, Results, load
from format_bench.results.marks import symbols
from format_bench.results.table import style_of, text_table
from format_bench.runner import progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from format_bench.families.cases import Case
    from format_bench.results.records import Record
    from format_bench.runner.progress import MeasureColumn
    from format_bench.runner.user_data import Prepared


def describe(own: Prepared) -> None:
    """Print a description of the user's data, and the changes made to them."""
    to = terminal.console()
    data_summary.show(to, own.description)
    for remark in own.remarks:
        to.print(f"note: {remark}")
    to.print()


def show(
    records: Iterable[Record], cases: Sequence[Case], columns: Sequence[MeasureColumn], out: Path
) -> None:
    """Print a table for each data set, with notes, and the verdict.

    Parameters
    ----------
    records : iterable of Record
        All records in the folder of results; those of other runs are left out.
    cases : sequence of Case
        The cases of the run.
    columns : sequence of MeasureColumn
        The columns of the tables.
    out : Path
        The folder of results.
    """
    from format_bench.report import findings

    to = terminal.console()
    own = progress.records_of_cases(records, cases)
    floors = noise_floor.beside(out / RESULTS)
    for dataset in dict.fromkeys(case.dataset for case in cases):
        found = progress.table(dataset, cases, columns, own, floors)
        terminal.text_table(to, text_table(_title(dataset, cases), found), style_of)
        to.print()
    terminal.prose(to, f"{symbols(floors)} Medians; see {out} for all samples.")
    to.print()
    for sentence in findings(Results(out.name, own, [], floors)):
        to.print(sentence)


def write(out: Path) -> Path:
    """Write the report of the results in a folder, as HTML, beside them."""
    from format_bench.report import write as write_report
    from format_bench.report.writers import path_of

    path = path_of("html", out)
    write_report(load(out), "html", path)
    return path


def _title(dataset: str, cases: Sequence[Case]) -> str:
    case = next(case for case in cases if case.dataset == dataset)
    return f"{dataset}, {case.rows:,} {case.family.item}s"
