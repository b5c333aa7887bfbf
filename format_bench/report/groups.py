"""Which cells are compared with each other: those of one family, data set, size and thread policy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from format_bench.records import METRICS
from format_bench.report.cells import NOT_RUN, Cell, Entry, Measure, cell_of
from format_bench.report.texts import many, printable
from format_bench.results import family_of

if TYPE_CHECKING:
    from format_bench.records import Record
    from format_bench.results import Results

TITLES = {"tabular": "Tables", "compression": "Compression", "image": "Images"}

Key = tuple[str, int, str]
"""Data set, rows, thread policy."""


@dataclass(frozen=True)
class Group:
    """Cells that may be compared: all on the same data, under the same thread policy."""

    name: str
    """The data set, and what tells it from others of that name in the results."""
    rows: int
    columns: int
    threads: str
    cells: dict[tuple[Entry, Measure], Cell]

    @cached_property
    def entries(self) -> list[Entry]:
        """Those of which there is a record, in the order of the whole report."""
        return sorted({entry for entry, _ in self.cells}, key=lambda entry: entry.place)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of which there is a record, in the order of `METRICS`, warm before cold."""
        return _in_order({measure for _, measure in self.cells})

    def cell(self, entry: Entry, measure: Measure) -> Cell:
        """Return a cell; of which there is no record, one that says so."""
        return self.cells.get((entry, measure), NOT_RUN)

    def values(self, measure: Measure) -> dict[Entry, float]:
        """Return the values that there are, in the order of the entries."""
        found = {entry: self.cell(entry, measure).value for entry in self.entries}
        return {entry: value for entry, value in found.items() if value is not None}


@dataclass(frozen=True)
class Family:
    """The groups of one kind of data."""

    name: str
    """As `family_of` gives it."""
    groups: list[Group]

    @property
    def title(self) -> str:
        """What headings call it."""
        return _title(self.name)

    def extent(self, group: Group) -> str:
        """Return how large the data of a group are; empty if that is not known."""
        if self.name == "image":
            return many(group.rows, "image") if group.rows else ""
        sizes = ((group.rows, "row"), (group.columns, "column"))
        return ", ".join(many(number, what) for number, what in sizes if number)

    @cached_property
    def entries(self) -> list[Entry]:
        """Those of any group, in the order of the whole report."""
        found = {entry for group in self.groups for entry in group.entries}
        return sorted(found, key=lambda entry: entry.place)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of any group, in order."""
        return _in_order({measure for group in self.groups for measure in group.measures})


def families(results: Results) -> list[Family]:
    """Return the families in the order in which they were measured."""
    found: dict[str, dict[Key, list[Record]]] = {}
    for record in results.records:
        key = (record.dataset, record.rows, record.threads)
        found.setdefault(family_of(record), {}).setdefault(key, []).append(record)
    datasets = Counter(dataset for keys in found.values() for dataset in {key[0] for key in keys})
    shared = {dataset for dataset, times in datasets.items() if times > 1}
    return [
        Family(name, _groups(by_key, shared, _title(name).lower())) for name, by_key in found.items()
    ]


def _title(family: str) -> str:
    return TITLES.get(family, printable(family).capitalize())


def _groups(by_key: dict[Key, list[Record]], shared: set[str], kind: str) -> list[Group]:
    return [
        Group(
            name=_name(key, list(by_key)) + (f", {kind}" if key[0] in shared else ""),
            rows=key[1],
            # A case that failed early may not know them.
            columns=max(record.columns for record in records),
            threads=key[2],
            cells={
                (
                    Entry(record.format, record.codec, record.level),
                    Measure(record.metric, record.cache),
                ): cell_of(record)
                for record in records
            },
        )
        for key, records in by_key.items()
    ]


def _name(key: Key, keys: list[Key]) -> str:
    dataset, rows, threads = key
    name = printable(dataset)
    if len({each[1] for each in keys if each[0] == dataset}) > 1:
        name += f", {rows:,} rows"
    if len({each[2] for each in keys}) > 1:
        name += ", 1 thread" if threads == "1" else ", all threads"
    return name


def _in_order(measures: set[Measure]) -> list[Measure]:
    names = list(METRICS)
    return sorted(measures, key=lambda each: (names.index(each.metric), each.cache == "cold"))
