"""Summaries of a run that has ended and of the user's data, and the report that a run may write."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from statistics import mean
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from adapter_core import Field, Kind, RecordType
from adapter_core.text import printable
from data_generator.user.summary import (
    ArrayDescription,
    ColumnDescription,
    ImagesDescription,
    Plain,
    RecordsDescription,
    TableDescription,
)
from format_bench.results.display import terminal
from format_bench.results.display.text import joined, quantity
from format_bench.results.load import Results, load, metadata_beside, reasons_unasked, without_unasked
from format_bench.results.marks import SYMBOLS
from format_bench.results.self_check import SelfCheck
from format_bench.results.table import style_of, text_table
from format_bench.runner import progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console, JustifyMethod

    from format_bench.families.cases import Case
    from format_bench.runner.session import RunSummary
    from format_bench.runner.user_data import Description, Prepared


def describe(own: Prepared, *, named: bool = False) -> None:
    """Print a description of the user's data, below their name if wanted, and the changes to them."""
    to = terminal.console()
    if named:
        to.print(f"{own.name}:", markup=False, highlight=False)
    show_data(to, own.description)
    for remark in own.remarks:
        to.print(f"note: {remark}")
    to.print()


def show(found: RunSummary, out: Path) -> None:
    """Print a table for each data set, with notes, and the verdict.

    Parameters
    ----------
    found : RunSummary
        The outcome of the run; records of other runs are left out.
    out : Path
        The folder of results.
    """
    from format_bench.report import findings, headline_of

    to = terminal.console()
    of_cases = progress.records_of_cases(found.records, found.cases)
    own = without_unasked(of_cases)
    whole = Results(out.name, own, metadata_beside(out))
    top = headline_of(whole)
    if top.banner:
        terminal.prose(to, top.banner)
        to.print()
    for cases in filter(None, (found.sample, found.cases)):
        records = progress.records_of_cases(found.records, cases)
        for case in progress.tables_of(cases):
            table = progress.table(case, cases, found.columns, records, found.not_run)
            terminal.text_table(to, text_table(_title(case, cases), table), style_of)
            to.print()
    for (_, place, _, query), reason in reasons_unasked(of_cases).items():
        terminal.prose(to, f"{query} is not asked of {place}: {reason}.")
    terminal.prose(to, f"{SYMBOLS} Medians; see {out} for all samples.")
    if check := str(SelfCheck.of(own)):
        terminal.prose(to, check)
    to.print()
    for sentence in (*map(str, top.answer), *findings(whole)):
        to.print(sentence)


def write(out: Path, machine: str = "") -> Path:
    """Write the report of the results in a folder, as HTML, beside them.

    Parameters
    ----------
    out : Path
        The folder.
    machine : str
        Fingerprint, if the results are of a cluster.
    """
    from format_bench.report import write as write_report
    from format_bench.report.writers import path_of

    path = path_of("html", out)
    if machine:
        path = path.with_stem(f"{path.stem}-{machine}")
    write_report(load(f"{out}#{machine}" if machine else out), "html", path)
    return path


def _title(case: Case, cases: Sequence[Case]) -> str:
    return f"{progress.place_among(case, cases)}, {case.rows:,} {case.family.item}s"


# The most columns with a line each; wider tables are summed up by dtype.
MOST_COLUMNS = 30

# Columns that are never cut.
NUMBERS = ("columns", "nulls", "distinct")

# Characters between two columns.
GAP, GAP_IN_FILE = 3, 2

DAY = len("2026-11-21")


def show_data(to: Console, found: Description) -> None:
    """Print the summary, no line wider than the console; long names are cut."""
    if isinstance(found, RecordsDescription):
        fields = list(_fields(found.of))
        line = f"{_counted(found.records, 'record')} with {_counted(len(fields), 'field')}"
        to.print(line, markup=False, highlight=False)
        left = len(fields) - MOST_COLUMNS
        further = [[f"and {left:,} more", ""]] if left > 0 else []
        to.print(_table(to, ["field", "kind"], fields[:MOST_COLUMNS] + further))
        return
    if not isinstance(found, TableDescription):
        lines = _array_lines(found) if isinstance(found, ArrayDescription) else _image_lines(found)
        for line in lines:
            to.print(line, markup=False, highlight=False)
        return
    size = quantity(found.memory_bytes, "bytes")
    summary = (
        f"{_counted(found.rows, 'row')}, {_counted(len(found.columns), 'column')}, {size} in memory"
    )
    to.print(summary, markup=False, highlight=False)
    wide = len(found.columns) > MOST_COLUMNS
    header, rows = _kinds(found.columns) if wide else _columns(found.columns)
    to.print(_table(to, header, rows))


def _fields(of: RecordType, within: str = "") -> Iterable[list[str]]:
    """Yield path and kind of each field of a type, in order, a nested record before its own fields."""
    for each in of.fields:
        yield [f"{within}{each.name}", _kind(each)]
        if each.inner.record is not None:
            place = f"{within}{each.name}{'' if each.element is None else '[]'}."
            yield from _fields(each.inner.record, place)


def _kind(of: Field) -> str:
    word = str(of.kind)
    if of.element is not None:
        word = f"{of.kind} of {_kind(of.element)}"
    elif of.branches:
        word = f"{of.kind} of {joined(str(each.kind) for each in of.branches)}"
    elif of.precision:
        word = f"{of.kind} of {of.precision} digits, {of.scale} after the point"
    elif of.enum is not None:
        word = f"{of.kind} of {joined(of.symbols)}"
    return f"{word} or null" if of.optional else word


def _columns(columns: Iterable[ColumnDescription]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [each.name, each.dtype, _percent(each.null_share), _distinct(each), _holds(each)]
        for each in columns
    ]
    return ["column", "dtype", "nulls", "distinct", "holds"], rows


def _kinds(columns: Iterable[ColumnDescription]) -> tuple[list[str], list[list[str]]]:
    by_kind = groupby(sorted(columns, key=lambda each: each.kind), key=lambda each: each.kind)
    rows = []
    for kind, group in by_kind:
        alike = list(group)
        nulls = _percent(mean(each.null_share for each in alike))
        rows.append([f"{len(alike):,}", kind, nulls, f"{alike[0].name}, ..."])
    return ["columns", "hold", "nulls", "such as"], rows


def _table(to: Console, header: list[str], rows: list[list[str]]) -> Table:
    cells = [list(map(printable, row)) for row in (header, *rows)]
    shown = Table(box=box.SIMPLE_HEAD if to.is_terminal else None, pad_edge=False)
    gaps = (GAP if to.is_terminal else GAP_IN_FILE) * len(header)
    for name, width in zip(header, _widths(cells, to.width - gaps), strict=True):
        justify: JustifyMethod = "right" if name in NUMBERS else "left"
        shown.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", max_width=width)
    for row in cells[1:]:
        # As they are: rich takes words in brackets, as pandas' dtypes have them, for its own.
        shown.add_row(*map(Text, row))
    return shown


def _widths(cells: list[list[str]], most: int) -> list[int]:
    """Return how wide columns may be, the widest ones cut until all fit."""
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    text = [i for i, name in enumerate(cells[0]) if name not in NUMBERS]
    while sum(widths) > most and max(widths[i] for i in text) > 1:
        widths[max(text, key=widths.__getitem__)] -= 1
    return widths


def _image_lines(found: ImagesDescription) -> Iterable[str]:
    size = quantity(found.raw_bytes, "bytes")
    yield f"{_counted(found.images, 'image')}, {size} of pixels, {_counted(found.labels, 'label')}"
    if found.shapes == 1:
        yield f"all of the shape {found.smallest}"
    else:
        yield f"{found.shapes:,} shapes, from {found.smallest} to {found.largest}"
    for channels, number in found.channels.items():
        kind = f"with {_counted(channels, 'channel')}" if channels else "of shape (height, width)"
        yield f"{_counted(number, 'image')} {kind}"


def _array_lines(found: ArrayDescription) -> Iterable[str]:
    size = quantity(found.raw_bytes, "bytes")
    yield f"{found.dtype} of shape {found.shape}, {size} in memory"
    yield f"{_counted(found.chunks, 'chunk')} of shape {found.chunk}"
    if found.least is not None and found.greatest is not None:
        nan = f", {_percent(found.nan_share)} NaN" if found.nan_share else ""
        sample = "" if found.read_chunks == found.chunks else f" in {found.read_chunks} of them"
        yield f"values from {_short(found.least)} to {_short(found.greatest)}{nan}{sample}"


def _percent(share: float) -> str:
    if 0 < share < 0.001:  # noqa: PLR2004 (what is rounded to nothing)
        return "<0.1 %"
    return f"{100 * share:.3g} %"


def _distinct(column: ColumnDescription) -> str:
    if column.distinct is None:
        return "-"
    return f"{'' if column.distinct_is_exact else '~'}{column.distinct:,}"


def _holds(column: ColumnDescription) -> str:
    if column.longest is not None:
        return f"up to {_counted(column.longest, 'byte' if column.kind == Kind.BINARY else 'character')}"
    if column.types:
        return f"Python's {', '.join(column.types)}"
    if column.least is None or column.greatest is None:
        return column.kind
    least, greatest = _short(column.least), _short(column.greatest)
    is_time = column.kind in (Kind.DATETIME, Kind.ZONED_DATETIME)
    if is_time and least[:DAY] != greatest[:DAY]:
        least, greatest = least[:DAY], greatest[:DAY]
    return f"{least} to {greatest}"


def _short(value: Plain) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else value


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
