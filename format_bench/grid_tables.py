"""Tables of the grid: one for each format, a row for each codec and level."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from format_bench import grid_texts
from format_bench.display import markdown as comparison
from format_bench.display.markdown import Table
from format_bench.operations.cases import READ, SAVE, Case
from format_bench.results.records import key
from format_bench.runner.recording import keys

if TYPE_CHECKING:
    from format_bench.results.records import Record

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
            for step in (SAVE, READ)
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
    best = {metric: grid_texts.best_of(row[metric] for row in cells.values()) for metric in METRICS}
    rows = []
    for case, row in cells.items():
        line = [case.codec or "none", "" if case.level is None else str(case.level)]
        for metric in METRICS:
            found = row[metric]
            beside = grid_texts.ratio if metric == "size" else grid_texts.added
            line += [
                grid_texts.value(found, best[metric], notes),
                grid_texts.NOTHING if row is plain else beside(found, plain[metric]),
            ]
        rows.append(line)
    return Table(label, _HEADER, rows, notes)
