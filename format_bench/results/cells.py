"""Names of cells: suite, data, configuration and measure, as in "tabular/core/Parquet/read_time"."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from adapter_core.errors import UnknownNameError
from adapter_core.text import printable
from format_bench.results.candidates import Configuration
from format_bench.results.load import suite_of
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import compared_with


class CellName(NamedTuple):
    """Name of a cell, in the words of tables and comparisons."""

    suite: str
    """The suite in whose tables it is."""
    data: str
    """The data set with its conditions, and with its rows if results have several sizes of it."""
    configuration: str
    """E.g. "Parquet zstd 3", or "Parquet on 1 thread"."""
    measure: str
    """As on the command line, e.g. "cold_read_time"."""

    def __str__(self) -> str:
        """Return the name as `find` takes it."""
        return "/".join(self)


_KINDS = ("suite", "data set", "format", "metric")


def data_name(place: str, rows: int, sizes: Collection[int]) -> str:
    """Return the part of a name with the data; `sizes` are all numbers of rows of that place."""
    return f"{place}, {rows:,} rows" if len(sizes) > 1 else place


def by_name(records: Iterable[Record]) -> dict[CellName, Record]:
    """Return the records of results by the names of their cells, in order."""
    records = list(records)
    sizes: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for each in records:
        sizes[compared_with(suite_of(each)), each.place].add(each.rows)
    found = {}
    for each in records:
        suite = compared_with(suite_of(each))
        data = data_name(printable(each.place), each.rows, sizes[suite, each.place])
        measure = Measure.of(each).comparable.option
        found[CellName(suite, data, str(Configuration.of(each)), measure)] = each
    return found


def find(records: Iterable[Record], name: str) -> Record:
    """Return the record of a cell.

    Raises
    ------
    UnknownNameError
        If there is none; the message names the first part that is wrong, and near ones.
    """
    cells = by_name(records)
    by_text = {str(each): record for each, record in cells.items()}
    if name in by_text:
        return by_text[name]
    suite, _, rest = name.partition("/")
    rest, _, measure = rest.rpartition("/")
    data, _, configuration = rest.rpartition("/")
    left = list(cells)
    for kind, position, part in zip(
        _KINDS, range(len(_KINDS)), (suite, data, configuration, measure), strict=True
    ):
        known = list(dict.fromkeys(each[position] for each in left))
        if part not in known:
            where = f" in {'/'.join(left[0][:position])}" if position else ""
            raise UnknownNameError(f"{kind}{where}", part, known)
        left = [each for each in left if each[position] == part]
    raise UnknownNameError("cell", name, by_text)


def command(source: str, name: str, further: str = "--script") -> str:
    """Return the command that shows a cell of results, as a shell takes it."""
    return f"format-bench show {shlex.quote(source)} --cell {shlex.quote(name)} {further}"
