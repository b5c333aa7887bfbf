"""Configurations that results let a user choose from, each with its records.

A configuration is a format, possibly with a codec. Its name and its place in lists are the same in all
tables, charts and sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

from adapter_core.codec_choice import DEFAULTS, RECOMMENDED
from adapter_core.text import printable
from format_bench.results.adapter_facts import AdapterFacts, facts_of
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite

LOSSY = "lossy"
"""Mark of a configuration that changes values, in its name and in every view."""


OWN_DEFAULT = "own default"
"""Codec of records of asv's suites for the codec that a library takes by itself."""


@dataclass(frozen=True)
class Configuration:
    """A format with a codec, the settings of an axis, or neither, possibly under an error bound."""

    format: str
    """The label, e.g. "Parquet[polars]"."""
    codec: str | None = None
    level: int | None = None
    threads: str = "all"
    """"all" or "1"; also "all" where groups of results are of one thread policy each."""
    track: str = ""
    """Way to write the file, e.g. "paper"; empty in suites without tracks."""
    settings: str = ""
    """"defaults", "recommended" or "tuned"; empty for the usual ones, without compression."""
    error_bound: str = ""
    """Most that values may change by, e.g. "abs 0.001"; empty if nothing was asked for."""
    family: str = field(default="", compare=False)
    """Family of the adapter, whose facts are in the name; empty if unknown."""

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the configuration of a record, with its thread policy."""
        return cls(
            *(record.format, record.codec, record.level, record.threads, record.track),
            settings=record.conditions.get("settings", ""),
            error_bound=record.conditions.get("error bound", ""),
            family=family_of_suite(record.suite.partition(".")[0]).name,
        )

    def __str__(self) -> str:
        """Return the name, e.g. "Parquet zstd 3", "Parquet, no codec" or "NetCDF4 (paper)"."""
        bound = f" within {self.error_bound}" if self.error_bound else ""
        threads = "" if self.threads == "all" else " on 1 thread"
        lossy = f", {LOSSY}" if self.loss else ""
        return printable(f"{self.format}{self._way}{bound}{threads}{lossy}")

    @property
    def _way(self) -> str:
        """The way to write the file, as it is in the name."""
        if self.track:
            return f" ({self.track})"  # it decides the codec
        if self.settings == DEFAULTS or self.codec == OWN_DEFAULT:
            return ", default" + _in_brackets(self.facts.default_codec)
        if self.settings == RECOMMENDED:
            return f", {RECOMMENDED}" + _in_brackets(self.facts.recommended_codec)
        if self.settings:
            return f", {self.settings}"
        if self.codec:
            return f" {self.codec}" + ("" if self.level is None else f" {self.level}")
        # Where the library compresses by itself, a bare label would not say which of the two it is.
        return ", no codec" if self.facts.compresses_by_itself else ""

    @property
    def facts(self) -> AdapterFacts:
        """Facts of the adapter."""
        return facts_of(self.family, self.format)

    @property
    def loss(self) -> str:
        """The loss of values that the adapter or the codec declares, in words; empty if lossless."""
        if self.error_bound:
            return f"values change within {self.error_bound}"
        return self.facts.loss_by(self.codec, self.level)

    @property
    def uncompressed(self) -> Self:
        """The configuration of the same format that savings and costs of a codec relate to."""
        return replace(self, codec=None, level=None, settings="", error_bound="")

    @property
    def sort_key(self) -> tuple[str, str, str, str, int, str, str, str]:
        """The place in alphabetical lists: of one format, the uncompressed configuration is first."""
        name = self.format.casefold(), self.format
        way = self.codec or "", self.level or 0, self.error_bound
        return *name, self.settings, *way, self.threads, self.track

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; without family, settings or bound where there are none."""
        optional = {"settings", "error_bound"}
        found = ((name, value) for name, value in asdict(self).items() if name != "family")
        return {name: value for name, value in found if value or name not in optional}


def _in_brackets(codec: str | None) -> str:
    return f" ({codec})" if codec else ""


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
