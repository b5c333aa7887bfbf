"""Matrix of writers and readers: files of each writer, read by all readers and compared."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import UnknownNameError
from adapter_core.text import printable, without_addresses
from format_bench.compatibility import foreign
from format_bench.compatibility.features import find
from format_bench.compatibility.features import formats as declared
from format_bench.compatibility.files import TableFile
from format_bench.compatibility.reduction import smallest
from format_bench.compatibility.subjects import SUBJECTS, Cut
from format_bench.compatibility.verdicts import Judgement, judge, unwritten
from format_bench.conditions import axes
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.libraries import environment
from format_bench.results.display.text import joined, plural
from format_bench.results.load import SMALLEST
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.studies.compatible import feature_pages
from format_bench.studies.compatible.matrix_readers import (
    Reader,
    named,
    readers_of,
    readers_of_features,
)
from format_bench.studies.compatible.matrix_rows import (
    FORM,
    REDUCED,
    VERSIONS,
    CompatibilityRow,
    findings,
)
from format_bench.studies.compatible.matrix_writers import suffix_of, writers_of, written
from format_bench.studies.declared.rows import Agenda, Instrument, chosen, evidence
from format_bench.system import library_set
from format_bench.verification.canonical import CanonicalTable

ALL = "all"


def measure(  # noqa: PLR0913, PLR0917 (options of the study)
    agenda: Agenda[CompatibilityRow],
    formats: str,
    readers: str,
    sets: str,
    tables: Sequence[str],
    limit: float,
    reductions: int,
    family: str = "tables",
    features: str = "",
) -> Iterator[CompatibilityRow]:
    """Return the rows of adapters by all readers of their files.

    Parameters
    ----------
    agenda : Agenda
        The cells that are measured.
    formats : str
        Labels of adapters and of foreign writers, with commas; by default the suite's adapters, and all
        foreign writers of their formats.
    readers : str
        Labels of adapters, and names of foreign readers, with commas; by default all that read files
        of these formats.
    sets : str
        Names of library sets besides this environment, with commas.
    tables : sequence of str
        Names of edge cases, or `ALL`; by default the usual ones.
    limit : float
        Seconds that writing or reading a file may take.
    reductions : int
        The worst findings whose table is reduced, at most.
    family : str
        One of `SUBJECTS`; features are of tables.
    features : str
        Formats whose features are written instead of tables, with commas, or `ALL`.

    Raises
    ------
    UnknownNameError, InvalidRequestError
        If a name is unknown, or no library set can have it.
    """
    of_features = chosen("" if features == ALL else features, list(declared())) if features else []
    subject = SUBJECTS[family]
    labels = writers_of(family, formats)
    known = subject.cases()
    for each in tables:
        if each not in {*known, ALL}:
            raise UnknownNameError("edge case", each, known)
    libraries = dict.fromkeys(name for each in declared().values() for name in each.readers)
    reading = chosen(readers, [*subject.labels(), *foreign.names(), *libraries])
    of_sets = ["", *map(axes()[library_set.AXIS].parse, filter(None, sets.split(",")))]
    names = known if ALL in tables else tables or subject.usual or known
    forms = {subject.form(suffix_of(subject, each)) for each in labels}
    alike = [each for each in subject.labels() if subject.form(subject.suffix(each)) in forms]
    agenda.facts[VERSIONS] = {of_set: _versions(family, alike, of_set) for of_set in of_sets}
    matrix = _Matrix(agenda, family, limit, reductions)
    if of_features:
        return matrix.reduced(matrix.rows_of_features(of_features, reading, of_sets))
    return matrix.reduced(matrix.rows(labels, reading, of_sets, names))


INSTRUMENT = Instrument(
    FORM,
    measure,
    lambda row: f"{named(row.base, row.library_set)} read by {row.reader}",
    facts=feature_pages.facts,
)


_Cell = tuple[str, str, str, str, str]


class _Matrix:
    """Files of writers, and their readers.

    Parameters
    ----------
    agenda, family, limit_seconds, reductions
        As `measure` takes them.
    """

    def __init__(
        self, agenda: Agenda[CompatibilityRow], family: str, limit_seconds: float, reductions: int
    ) -> None:
        self._agenda, self._limit, self._reductions = agenda, limit_seconds, reductions
        self._family, self._subject = family, SUBJECTS[family]
        # A refusal is a result, and would be the same again.
        self._known = {
            each.cell
            for each in agenda.known
            if each.family == family and each.status != CellStatus.UNAVAILABLE
        }
        self._subjects: dict[_Cell, tuple[TableFile, Reader]] = {}
        """The files and readers of this run by cell, known ones included."""

    def rows(
        self, labels: Sequence[str], reading: Sequence[str], sets: Sequence[str], tables: Sequence[str]
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of adapters by readers, both of all library sets, format by format."""
        suffixes = {label: suffix_of(self._subject, label) for label in labels}
        by_form: dict[str, list[str]] = {}
        for label, suffix in suffixes.items():
            by_form.setdefault(self._subject.form(suffix), []).append(label)
        for form, alike in by_form.items():
            readers = list(readers_of(self._family, reading, sets, form))
            here_alone = foreign.writers()
            with TemporaryDirectory() as folder:
                files = {
                    TableFile(
                        *(label, table, str(Path(folder, f"{number}{suffixes[label]}"))),
                        family=self._family,
                    ): of_set
                    for number, (of_set, label, table) in enumerate(product(sets, alike, tables))
                    if not (of_set and label in here_alone)
                }
                yield from self._rows_of(files, readers, Path(folder))

    def rows_of_features(
        self, labels: Sequence[str], reading: Sequence[str], sets: Sequence[str]
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of features, which this environment writes, by readers of all library sets."""
        for found in map(find, labels):
            with TemporaryDirectory() as folder:
                files = {
                    TableFile(
                        found.format,
                        each.table,
                        str(Path(folder, f"{number}{found.suffix}")),
                        None,
                        each.name,
                    ): ""
                    for number, each in enumerate(found.features)
                }
                readers = list(readers_of_features(reading, sets, found))
                yield from self._rows_of(files, readers, Path(folder))

    def _rows_of(
        self, sets: Mapping[TableFile, str], readers: Sequence[Reader], folder: Path
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of files by the library set that writes each, once for all readers.

        A process takes longer to import libraries than to read many tables: each reader has one.
        """
        wanted = [
            (reader, [file for file, of_set in sets.items() if self._is_wanted(file, of_set, reader)])
            for reader in readers
        ]
        needed = dict.fromkeys(file for _, asked in wanted for file in asked)
        outcomes = dict[TableFile, Outcome]()
        for of_set in dict.fromkeys(sets.values()):
            its_files = [file for file in needed if sets[file] == of_set]
            outcomes |= written(of_set, its_files, self._limit, folder)
        for reader, asked in wanted:
            there = [file for file in asked if not outcomes[file].status]
            for file in asked:
                if outcomes[file].status:
                    yield _row(file, sets[file], reader, unwritten(outcomes[file]), folder)
            for file, outcome in reader.read(there, self._limit, folder):
                saved = CanonicalTable.parse(outcomes[file].value)
                found = judge(saved, self._explained(outcome), self._subject.compare)
                yield _row(file, sets[file], reader, found, folder)

    def _is_wanted(self, file: TableFile, of_set: str, reader: Reader) -> bool:
        cell = file.label, of_set, reader.name, file.table, file.feature
        self._subjects[cell] = file, reader
        facts = dict(zip(("format", "library_set", "reader", "dataset", "feature"), cell, strict=True))
        return self._agenda.has(cell in self._known, **facts)

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.status is not CellStatus.TIMED_OUT:
            return outcome
        return replace(outcome, sentence=f"not finished after {self._limit:g} seconds")

    def reduced(self, rows: Iterable[CompatibilityRow]) -> Iterator[CompatibilityRow]:
        """Yield rows, then the worst findings of the run again, with the smallest table that shows them.

        Which are the worst is known when all cells are: one of each reader and verdict.
        """
        by_cell = {each.cell: each for each in self._agenda.known if each.family == self._family}
        for row in rows:
            by_cell[row.cell] = row
            yield row
        of_run = [row for cell, row in by_cell.items() if cell in self._subjects]
        for worst, *_ in findings(of_run)[: self._reductions]:
            if REDUCED in worst.sentence or self._agenda.budget.is_spent():
                continue
            file, reader = self._subjects[worst.cell]
            if phrase := self._smallest(worst, file, reader):
                yield replace(worst, sentence=f"{worst.sentence}; {phrase}")

    def _smallest(self, row: CompatibilityRow, file: TableFile, reader: Reader) -> str:
        """Return the smallest table with a finding, as a phrase; empty if it does not come again."""
        with TemporaryDirectory() as folder:
            whole = replace(file, path=str(Path(folder, f"whole{Path(file.path).suffix}")))
            saved = written(row.library_set, [whole], self._limit, Path(folder))[whole]
            if saved.status:
                return ""
            table = CanonicalTable.parse(saved.value)
            outcome = dict(reader.read([whole], self._limit, Path(folder)))[whole]
            found = judge(table, self._explained(outcome), self._subject.compare)
            if found.verdict != row.verdict:
                return ""
            trial = _Trial(whole, row.library_set, reader, found, self._limit, Path(folder))
            columns, rows = self._subject.parts(table)
            part = smallest(len(columns), rows, trial.shows)
            kept = trial.keep(part, self._agenda.out)
        names = joined((repr(columns[position]) for position in part.columns), most=3)
        what = f"{'column' if len(part.columns) == 1 else 'columns'} {names}"
        return f"{REDUCED}{what}, {plural(part.rows, 'row')} from row {part.first}{kept}"


@dataclass(frozen=True)
class _Trial:
    """Parts of a table, written and read like the whole."""

    file: TableFile
    of_set: str
    reader: Reader
    found: Judgement
    """The verdict on the whole."""
    limit_seconds: float
    folder: Path

    def shows(self, parts: Sequence[Cut]) -> list[bool]:
        """Return whether the parts have the verdict of the whole."""
        files = [self._file(part) for part in parts]
        outcomes = written(self.of_set, files, self.limit_seconds, self.folder)
        there = [each for each in files if not outcomes[each].status]
        read = dict(self.reader.read(there, self.limit_seconds, self.folder))
        return [each in read and self._is_same(outcomes[each], read[each]) for each in files]

    def keep(self, part: Cut, out: Path | None) -> str:
        """Keep the file of a part beside the results; return where, as a phrase."""
        if out is None:
            return ""
        source = Path(self._file(part).path)
        if not source.exists():
            source = Path(self.file.path)  # no smaller part shows it
        what = self.file.feature or self.file.table
        facts = self.file.label, self.of_set, "read-by", self.reader.name, what
        name = evidence(out, SMALLEST, source.suffix, *facts)
        if source.is_dir():
            shutil.copytree(source, out / name, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, out / name)
        return f", in {name}"

    def _file(self, part: Cut) -> TableFile:
        columns = "-".join(map(str, part.columns))
        place = self.folder / f"{columns}-rows-{part.first}-{part.end}{Path(self.file.path).suffix}"
        return replace(self.file, path=str(place), cut=part)

    def _is_same(self, written: Outcome, read: Outcome) -> bool:
        compare = SUBJECTS[self.file.family].compare
        found = judge(CanonicalTable.parse(written.value), read, compare)
        return (found.verdict, found.error) == (self.found.verdict, self.found.error)


def _row(
    file: TableFile, of_set: str, reader: Reader, found: Judgement, folder: Path
) -> CompatibilityRow:
    status = "" if found.status is CellStatus.VALUE else str(found.status)
    # Files have numbers for names, which say nothing.
    path = Path(file.path)
    told = found.sentence.replace(f"{folder}/", "").replace(path.name, f"file{path.suffix}")
    sentence = printable(without_addresses(told))
    rows = SUBJECTS[file.family].rows(file.table)
    return CompatibilityRow(
        *(file.label, file.table, rows, reader.name, of_set, file.feature),
        *(found.changed, found.retyped, sentence, status, file.family),
    )


def _versions(family: str, labels: Sequence[str], of_set: str) -> str:
    """Return Python and the libraries of adapters in a library set, with their versions."""
    suite = FAMILIES[family].suites[0].name
    found = [environment(label, suite, of_set).split(", ") for label in labels]
    python, _, *libraries = dict.fromkeys(part for parts in found for part in parts)
    return ", ".join([python, *sorted(libraries)])
