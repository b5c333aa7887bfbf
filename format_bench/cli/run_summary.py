"""What a run prints when it has ended, and the report that it may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.cli import data_summary
from format_bench.display import terminal
from format_bench.display.marks import BEST
from format_bench.results.load import Results, load
from format_bench.runner import progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console

    from format_bench.families.cases import Case
    from format_bench.results.records import Record
    from format_bench.runner.progress import Column
    from format_bench.runner.user_data import Prepared


def describe(own: Prepared) -> None:
    """Print what own data hold, and what was changed in them."""
    to = terminal.console()
    data_summary.show(to, own.description)
    for remark in own.remarks:
        to.print(f"note: {remark}")
    to.print()


def show(records: Iterable[Record], cases: Sequence[Case], columns: Sequence[Column], out: Path) -> None:
    """Print a table for each data set, what there is to say of its cells, and the verdict.

    Parameters
    ----------
    records : iterable of Record
        All that the folder of results holds; those of other runs are left out.
    cases : sequence of Case
        The cases of the run.
    columns : sequence of Column
        What the tables show.
    out : Path
        Where the results are.
    """
    from format_bench.report import findings

    to = terminal.console()
    own = [each for each in records if _is_of(each, cases)]
    for dataset in dict.fromkeys(case.dataset for case in cases):
        names = progress.names_on(dataset, cases)
        found = [each for each in own if each.dataset == dataset]
        _print_table(to, _title(dataset, cases), names, columns, found)
    to.print(f"{BEST} best; smaller is better. Medians; see {out} for all samples.\n")
    for sentence in findings(Results(out.name, own, [])):
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


def _is_of(record: Record, cases: Sequence[Case]) -> bool:
    found = (record.suite, record.format, record.dataset, record.rows, record.codec, record.level)
    return any(
        found == (c.suite, c.format, c.dataset, c.rows, c.codec, c.level) and record.threads == c.threads
        for c in cases
    )


def _print_table(
    to: Console, title: str, names: list[str], columns: Sequence[Column], records: list[Record]
) -> None:
    shown, notes = progress.table(title, names, columns, records)
    to.print(shown)
    for note in notes:
        to.print(f"  {note}")
    to.print()
