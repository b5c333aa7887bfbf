"""The words of the grid's tables: what stands in a cell, and in the notes below.

Tables of the grid: one for each format, a row for each codec and level.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from format_bench.asv_support.comparison import added_seconds
from format_bench.display import markdown as comparison
from format_bench.display.markdown import Table, reference
from format_bench.display.marks import BEST
from format_bench.display.units import human
from format_bench.families.cases import Case
from format_bench.results.candidates import Configuration
from format_bench.results.records import key
from format_bench.runner.recording import keys
from format_bench.studies.codec_grid.cases import measured_steps

if TYPE_CHECKING:
    from format_bench.results.records import Record


NOTHING = "-"
"""Where there is nothing to compare with."""


def name_of(label: str, codec: str | None, level: int | None) -> str:
    """Return the name of a configuration, e.g. "Parquet zstd 3"."""
    return str(Configuration(label, codec, level))


def best_of(records: Iterable[Record]) -> float | None:
    """Return the smallest value; None if there is none."""
    return min((record.value for record in records if record.value is not None), default=None)


def value(found: Record, best: float | None, notes: list[str], ratio: str = "") -> str:
    """Return the value of a cell, or why it has none; with a remark on a codec that was declined.

    Parameters
    ----------
    found : Record
        The cell.
    best : float, optional
        The smallest value of those compared, which is marked.
    notes : list of str
        The sentences below the table, to which reasons and remarks are added.
    ratio : str
        What stands in brackets behind the value.
    """
    if found.value is None:
        return f"{found.status} {reference(_reason(found), notes)}"
    text = human(found.value, found.unit) + (BEST if found.value == best else "")
    if ratio:
        text += f" ({ratio})"
    if found.metric == "size" and found.sentence:
        text += f" {reference(found.sentence, notes)}"
    return text


def ratio(found: Record, plain: Record) -> str:
    """Return the size of a cell by that of the uncompressed one."""
    if found.value is None or not plain.value:
        return NOTHING
    return f"{found.value / plain.value:.3f}"


def added(found: Record, plain: Record) -> str:
    """Return by how much the median time differs from the uncompressed one's, with the interval."""
    if found.value is None or plain.value is None:
        return NOTHING
    low, high = added_seconds(found.repeats, plain.repeats)
    return f"{_signed(found.value - plain.value)} ({_signed(low)} to {_signed(high)})"


def _reason(found: Record) -> str:
    # Sentences of adapters name the format, and hold for all levels.
    if found.sentence.startswith(found.format):
        return found.sentence
    name = name_of(found.format, found.codec, found.level)
    return f"{name}: {found.status}: {found.sentence}"


def _signed(seconds: float) -> str:
    return ("-" if seconds < 0 else "+") + human(abs(seconds), "seconds")


METRICS = ("size", "save time", "read time")

_HEADER = ["codec", "level", "size", "ratio", "save time", "added", "read time", "added"]

Row = dict[str, "Record"]
"""What was found of a case, by metric; reads are warm."""

Cells = dict[Case, Row]
"""In the order of the rows, of each format the uncompressed case first."""


def by_case(cases: Iterable[Case], records: Iterable[Record]) -> Cells:
    """Return the records that the cases have in common with all records given."""
    found = {key(record): record for record in records}
    return {
        case: {
            found[each].metric: found[each]
            for step in measured_steps(case)
            for each in keys(case, step)
            if each in found
        }
        for case in cases
    }


def by_format(cells: Cells) -> dict[str, Cells]:
    """Return the cells of each format."""
    found: dict[str, Cells] = {}
    for case, row in cells.items():
        found.setdefault(case.format, {})[case] = row
    return found


def tables(cells: Cells) -> list[Table]:
    """Return a table for each format."""
    return [_table(label, rows) for label, rows in by_format(cells).items()]


def markdown(table: Table) -> str:
    """Return a table in Markdown whose columns are aligned, to be read as it is."""
    lines = [table.header, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    header, *rows = (
        [text.rjust(width) if at else text.ljust(width) for at, (text, width) in enumerate(pairs)]
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    )
    return comparison.markdown(replace(table, header=header, rows=rows))


def _table(label: str, cells: Cells) -> Table:
    notes: list[str] = []
    plain = next(iter(cells.values()))
    best = {metric: best_of(row[metric] for row in cells.values()) for metric in METRICS}
    rows = []
    for case, row in cells.items():
        line = [case.codec or "none", "" if case.level is None else str(case.level)]
        for metric in METRICS:
            found = row[metric]
            beside = ratio if metric == "size" else added
            line += [
                value(found, best[metric], notes),
                NOTHING if row is plain else beside(found, plain[metric]),
            ]
        rows.append(line)
    return Table(label, _HEADER, rows, notes)
