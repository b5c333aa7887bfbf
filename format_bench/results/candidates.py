"""What results let one choose from: formats, and formats with codecs, each with its cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.results.records import Record


class Table(NamedTuple):
    """A data set of one size; also a set of images."""

    dataset: str
    rows: int
    """Of the table, or images of the set."""


class Choice(NamedTuple):
    """What a user would decide on."""

    format: str
    """The label."""
    codec: str | None = None
    level: int | None = None
    threads: str = "all"

    def __str__(self) -> str:
        codec = f" with {self.codec}" if self.codec else ""
        level = "" if self.level is None else f" level {self.level}"
        return f"{self.format}{codec}{level}" + ("" if self.threads == "all" else " on 1 thread")


@dataclass(frozen=True)
class Candidate:
    """A choice, and what was found of it."""

    choice: Choice
    cells: dict[tuple[Table, Measure], Record] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What tables and sentences call it, as in "Parquet with zstd level 3"."""
        return str(self.choice)

    def value(self, table: Table, measure: Measure) -> float | None:
        """Return the value of a cell, or None if it has none or was not measured."""
        record = self.cells.get((table, measure))
        return record.value if record else None

    def why_empty(self, table: Table, measure: Measure) -> str:
        """Return a sentence that says why a cell has no value."""
        record = self.cells.get((table, measure))
        what = f"{self.name} has no {measure} of {table.dataset}"
        return f"{what}: {record.status}: {record.sentence}" if record else f"{what}: not measured"


def candidates_of(records: Iterable[Record]) -> list[Candidate]:
    """Return the candidates of some records of one family, in the order in which they appear."""
    found: dict[Choice, Candidate] = {}
    for record in records:
        choice = Choice(record.format, record.codec, record.level, record.threads)
        candidate = found.setdefault(choice, Candidate(choice))
        candidate.cells[Table(record.dataset, record.rows), Measure.of(record)] = record
    return list(found.values())


def tables_of(candidates: Iterable[Candidate]) -> list[Table]:
    """Return all data sets of some candidates, in the order in which they appear."""
    return list(dict.fromkeys(table for each in candidates for table, _ in each.cells))


def measures_of(candidates: Iterable[Candidate]) -> list[Measure]:
    """Return what has a value somewhere, in the order in which it appears."""
    return list(
        dict.fromkeys(
            measure
            for each in candidates
            for (_, measure), record in each.cells.items()
            if record.value is not None
        )
    )
