"""Configurations that results let a user choose from, each with its records.

A configuration is a format, possibly with a codec. Its name and its place in lists are the same in all
tables, charts and sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from adapter_core.text import printable
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.results.records import Record


class Configuration(NamedTuple):
    """A format with or without a codec."""

    format: str
    """The label, e.g. "Parquet[polars]"."""
    codec: str | None = None
    level: int | None = None
    threads: str = "all"
    """"all" or "1"; also "all" where groups of results are of one thread policy each."""
    track: str = ""
    """Way to write the file, e.g. "paper"; empty in suites without tracks."""

    @classmethod
    def of(cls, record: Record) -> Configuration:
        """Return the configuration of a record, with its thread policy."""
        return cls(record.format, record.codec, record.level, record.threads, record.track)

    def __str__(self) -> str:
        """Return the name, e.g. "Parquet zstd 3" or "NetCDF4 (paper)"."""
        # Without a comma, since names are joined to lists by commas.
        level = "" if self.level is None else f" {self.level}"
        # The track of a suite decides the codec.
        way = f"({self.track})" if self.track else f"{self.codec or ''}{level}"
        threads = "" if self.threads == "all" else " on 1 thread"
        return printable(f"{self.format} {way}{threads}")

    @property
    def sort_key(self) -> tuple[str, str, str, int, str, str]:
        """The place in alphabetical lists: of one format, the uncompressed configuration is first."""
        name = self.format.casefold(), self.format
        return *name, self.codec or "", self.level or 0, self.threads, self.track


class DatasetSize(NamedTuple):
    """A data set of one size."""

    dataset: str
    """With its medium, if media were compared: each medium counts as a data set of its own."""
    rows: int
    """Rows of the table, or images of the set."""

    @classmethod
    def of(cls, record: Record) -> DatasetSize:
        """Return the data set and the size of a record."""
        return cls(record.place, record.rows)


@dataclass(frozen=True)
class Candidate:
    """A configuration and its records."""

    configuration: Configuration
    cells: dict[tuple[DatasetSize, Measure], Record] = field(default_factory=dict)
    """By measures that are `comparable`."""

    @property
    def name(self) -> str:
        """The name of the configuration, e.g. "Parquet zstd 3"."""
        return str(self.configuration)

    def value(self, dataset: DatasetSize, measure: Measure) -> float | None:
        """Return the value of a cell, or None if it is empty or was not measured."""
        record = self.cells.get((dataset, measure))
        return record.value if record else None

    def empty_reason(self, dataset: DatasetSize, measure: Measure) -> str:
        """Return a sentence with the reason why a cell is empty."""
        record = self.cells.get((dataset, measure))
        what = f"{self.name} has no {measure.phrase} of {dataset.dataset}"
        return f"{what}: {record.status}: {record.sentence}" if record else f"{what}: not measured"


def candidates_of(records: Iterable[Record]) -> list[Candidate]:
    """Return the candidates among the records of one suite, in order of appearance."""
    found: dict[Configuration, Candidate] = {}
    for record in records:
        configuration = Configuration.of(record)
        candidate = found.setdefault(configuration, Candidate(configuration))
        cell = DatasetSize.of(record), Measure.of(record).comparable
        candidate.cells[cell] = record
    return list(found.values())


def datasets_of(candidates: Iterable[Candidate]) -> list[DatasetSize]:
    """Return all data sets of some candidates, in order of appearance."""
    return list(dict.fromkeys(dataset for each in candidates for dataset, _ in each.cells))


def measures_of(candidates: Iterable[Candidate]) -> list[Measure]:
    """Return the measures that have at least one value, in order of appearance."""
    return list(
        dict.fromkeys(
            measure
            for each in candidates
            for (_, measure), record in each.cells.items()
            if record.value is not None
        )
    )
