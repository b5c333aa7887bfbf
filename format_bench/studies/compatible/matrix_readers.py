"""Readers of the compatibility study: adapters, libraries alone, and programs in other languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from format_bench.compatibility import foreign
from format_bench.compatibility.features import Format
from format_bench.compatibility.files import TableFile, read_files, run_reader
from format_bench.compatibility.foreign import ForeignReader
from format_bench.compatibility.subjects import SUBJECTS
from format_bench.families.cases import Case
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.libraries import version_of
from format_bench.results.conditions import Conditions
from format_bench.results.status import CellStatus
from format_bench.runner.executor import in_turn
from format_bench.system import library_set

SUITES = {
    "tables": "compatibility",
    "arrays": "compatibility-arrays",
    "records": "compatibility-records",
}
"""Suites of the records by family."""


def named(label: str, of_set: str) -> str:
    """Return a label with its library set."""
    return f"{label}@{of_set}" if of_set else label


def process_of(label: str, family: str, of_set: str) -> Case:
    """Return the conditions of a process: its library set."""
    return Case(label, "", 0, Conditions({library_set.AXIS: of_set}), suite=SUITES[family])


@dataclass(frozen=True)
class Reader:
    """An adapter or a library of a library set, or a program in another language."""

    label: str
    family: str = "tables"
    library_set: str = ""
    foreign: ForeignReader | None = None
    steps: tuple[str, ...] = ()
    """The library's own call, as `library_readers.read` takes it; the label is its distribution then."""
    version: str | None = None
    """Version of the library."""

    @property
    def name(self) -> str:
        """The reader in records and headings: a library with its version, as in "pyarrow-15.0.0"."""
        return f"{self.label}-{self.version}" if self.version else named(self.label, self.library_set)

    def read(
        self, files: Sequence[TableFile], limit_seconds: float, folder: Path
    ) -> Iterator[tuple[TableFile, Outcome]]:
        """Yield files with the data read, in a process that lasts until one ends it."""
        if lacking := self._lacking():
            yield from ((each, Outcome(None, CellStatus.UNAVAILABLE, lacking)) for each in files)
            return
        case = process_of(self.label, self.family, self.library_set)
        if self.foreign is None:
            by = self.steps or self.label
            yield from in_turn(case, files, read_files, by, limit_seconds, folder=folder)
            return
        how = self.foreign.declaration.run, str(self.foreign.place)
        yield from in_turn(case, files, run_reader, *how, limit_seconds, folder=folder)

    def _lacking(self) -> str:
        """Return why it cannot run, as a sentence; empty if it can, or if its process has the answer."""
        if self.foreign:
            return self.foreign.lacking()
        if self.steps and not self.version:
            place = f"the library set {self.library_set}" if self.library_set else "this environment"
            return f"{self.label} is unavailable: {place} has none"
        return ""


def readers_of(family: str, names: Sequence[str], sets: Sequence[str], form: str) -> Iterator[Reader]:
    """Yield the readers of files of a format, adapters first."""
    subject = SUBJECTS[family]
    for of_set, label in product(sets, subject.labels()):
        if label in names and subject.form(subject.suffix(label)) == form:
            yield Reader(label, family, of_set)
    yield from _foreign_readers(family, names, form)


def readers_of_features(names: Sequence[str], sets: Sequence[str], found: Format) -> Iterator[Reader]:
    """Yield the readers of a format's features: libraries, each of a version once, then programs."""
    seen = set[str]()
    for of_set, (name, steps) in product(sets, found.readers.items()):
        version = version_of(name, of_set)
        reader = Reader(name, library_set=of_set, steps=tuple(steps), version=version)
        if name in names and reader.name not in seen:
            seen.add(reader.name)
            yield reader
    yield from _foreign_readers("tables", names, found.suffix)


def _foreign_readers(family: str, names: Sequence[str], form: str) -> Iterator[Reader]:
    subject = SUBJECTS[family]
    for name in foreign.names():
        declared = foreign.find(name).declaration
        is_of_format = form in map(subject.form, declared.suffixes) and family in declared.families
        if name in names and is_of_format:
            yield Reader(name, family, foreign=foreign.find(name))
