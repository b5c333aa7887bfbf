"""Cells that are compared with each other, and the families that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from format_bench.display.text import many, printable
from format_bench.report.cells import NOT_RUN, Cell, Entry, Measure
from format_bench.results.metrics import METRICS

TITLES = {"tabular": "Tables", "engines": "Engines", "compression": "Compression", "image": "Images"}


@dataclass(frozen=True)
class Group:
    """Cells that may be compared: all on the same data, under the same thread policy."""

    name: str
    """The data set, and what tells it from others of that name in the results."""
    dataset: str
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
        return title_of(self.name)

    def extent(self, group: Group) -> str:
        """Return how large the data of a group are; empty if that is not known."""
        if self.name == "image":
            return many(group.rows, "image") if group.rows else ""
        sizes = ((group.rows, "row"), (group.columns, "column"))
        return ", ".join(many(number, what) for number, what in sizes if number)

    @property
    def datasets(self) -> list[str]:
        """Their names; one may be in several groups."""
        return list(dict.fromkeys(group.dataset for group in self.groups))

    @cached_property
    def entries(self) -> list[Entry]:
        """Those of any group, in the order of the whole report."""
        found = {entry for group in self.groups for entry in group.entries}
        return sorted(found, key=lambda entry: entry.place)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of any group, in order."""
        return _in_order({measure for group in self.groups for measure in group.measures})


def title_of(family: str) -> str:
    """Return what headings call a family."""
    return TITLES.get(family, printable(family).capitalize())


def _in_order(measures: set[Measure]) -> list[Measure]:
    names = list(METRICS)
    return sorted(measures, key=lambda each: (names.index(each.metric), each.cache == "cold"))
