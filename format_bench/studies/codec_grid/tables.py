"""Tables of the codec grid: one for each format, a row for each codec and level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from format_bench.families.cases import Case
from format_bench.results.candidates import Configuration
from format_bench.results.groups import ComparisonGroup
from format_bench.results.records import Record, key
from format_bench.results.table import codec_table, text_table
from format_bench.runner.recording import keys
from format_bench.studies.codec_grid.cases import measured_steps

if TYPE_CHECKING:
    from format_bench.display.markdown import TextTable
    from format_bench.results.noise_floor import Floors


# The records of a case by metric; reads are warm.
Row = dict[str, "Record"]

# The rows of the grid in order: of each format the uncompressed case first.
Cells = dict[Case, Row]


def by_case(cases: Iterable[Case], records: Iterable[Record]) -> Cells:
    """Return the records of each case, out of all records."""
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


def group_of(cells: Cells) -> ComparisonGroup:
    """Return the cells as a group of results."""
    return ComparisonGroup.of("", [record for row in cells.values() for record in row.values()])


def configuration_of(case: Case) -> Configuration:
    """Return the configuration of a case."""
    return Configuration(case.format, case.codec, case.level)


def tables(cells: Cells, floors: Floors | None = None) -> list[TextTable]:
    """Return a table for each format, whose codecs are compared with each other."""
    group = group_of(cells)
    return [
        text_table(label, codec_table(group, [configuration_of(case) for case in rows], floors), _LEAD)
        for label, rows in by_format(cells).items()
    ]


_LEAD = {
    "codec": lambda each: each.codec or "none",
    "level": lambda each: "" if each.level is None else str(each.level),
}
