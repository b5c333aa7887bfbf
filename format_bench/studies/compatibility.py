"""Matrix of writers and readers: files of each writer, read by all readers and compared."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import data_formats
from adapter_core.errors import UnknownNameError
from adapter_core.text import printable
from data_generator.synthetic.edge_case_tables import ROWS, edge_case_tables
from format_bench.compatibility import foreign
from format_bench.compatibility.features import find
from format_bench.compatibility.features import formats as declared
from format_bench.compatibility.files import Cut, TableFile
from format_bench.compatibility.reduction import smallest
from format_bench.compatibility.verdicts import Judgement, Verdict, judge, unwritten
from format_bench.conditions import axes
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.libraries import environment
from format_bench.results.display.text import joined, plural
from format_bench.results.load import SMALLEST
from format_bench.results.status import CellStatus
from format_bench.studies.compatible import feature_pages
from format_bench.studies.compatible.matrix_readers import (
    SUITE,
    Reader,
    named,
    readers_of_features,
    readers_of_tables,
)
from format_bench.studies.compatible.matrix_rows import FORM, CompatibilityRow
from format_bench.studies.compatible.matrix_writers import suffix_of, writers_of, written
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.rows import Agenda, Instrument, chosen, evidence
from format_bench.system import library_set
from format_bench.verification.canonical import CanonicalTable

TABLES = (
    *("bool column", "int8 column", "uint64 column", "float16 column", "float32 with 9 digits", "NaN"),
    *("smallest and largest integers", "infinity", "minus zero", "text with nulls"),
    *("empty text and nulls", "text like integers", "text with line breaks", "text in many scripts"),
    *("bytes", "dates", "times", "decimals", "datetimes in nanoseconds", "datetimes of all years"),
    *("datetimes with a zone", "timedeltas", "categories", "nullable integers", "lists of integers"),
    *("structs", "maps"),
)
"""Edge-case tables of a usual run: one for each type, and the values that readers change most."""

ALL = "all"

VERSIONS = "compatibility_versions"
"""Name in the metadata of a run: the versions of libraries by library set."""

_WORST = 10
"""Findings that the page shows."""

_SERIOUS = (Verdict.CRASH, Verdict.HANG, Verdict.DIFFERENT, Verdict.REFUSED)
"""Verdicts whose tables are reduced, the worst first."""


def measure(  # noqa: PLR0913, PLR0917 (options of the study)
    agenda: Agenda[CompatibilityRow],
    formats: str,
    features: str,
    readers: str,
    sets: str,
    tables: Sequence[str],
    limit: float,
    reductions: int,
) -> Iterator[CompatibilityRow]:
    """Return the rows of adapters by all readers of their files.

    Parameters
    ----------
    agenda : Agenda
        The cells that are measured.
    formats : str
        Labels of adapters and of foreign writers, with commas; by default the suite's adapters, and all
        foreign writers of their formats.
    features : str
        Formats whose features are written instead of tables, with commas, or `ALL`.
    readers : str
        Labels of adapters, and names of foreign readers, with commas; by default all that read files
        of these formats.
    sets : str
        Names of library sets besides this environment, with commas.
    tables : sequence of str
        Names of edge-case tables, or `ALL`; by default `TABLES`.
    limit : float
        Seconds that writing or reading a file may take.
    reductions : int
        Findings whose table is reduced, at most.

    Raises
    ------
    UnknownNameError, InvalidRequestError
        If a name is unknown, or no library set can have it.
    """
    of_features = chosen("" if features == ALL else features, list(declared())) if features else []
    labels = writers_of(formats)
    known = list(edge_case_tables())
    for each in tables:
        if each not in {*known, ALL}:
            raise UnknownNameError("edge-case table", each, known)
    libraries = dict.fromkeys(name for each in declared().values() for name in each.readers)
    reading = chosen(readers, [*data_formats.names(), *foreign.names(), *libraries])
    of_sets = ["", *map(axes()[library_set.AXIS].parse, filter(None, sets.split(",")))]
    names = known if ALL in tables else tables or TABLES
    suffixes = {suffix_of(each) for each in labels}
    alike = [each for each in data_formats.names() if data_formats.find(each).suffix in suffixes]
    agenda.facts[VERSIONS] = {of_set: _versions(alike, of_set) for of_set in of_sets}
    matrix = _Matrix(agenda, limit, reductions)
    if of_features:
        return matrix.rows_of_features(of_features, reading, of_sets)
    return matrix.rows(labels, reading, of_sets, names)


INSTRUMENT = Instrument(
    FORM,
    measure,
    lambda row: f"{named(_base(row.format), row.library_set)} read by {row.reader}",
    facts=feature_pages.facts,
)


class _Matrix:
    """Files of writers, and their readers.

    Parameters
    ----------
    agenda, limit_seconds, reductions
        As `measure` takes them.
    """

    def __init__(self, agenda: Agenda[CompatibilityRow], limit_seconds: float, reductions: int) -> None:
        self._agenda, self._limit, self._reductions = agenda, limit_seconds, reductions
        # A refusal is a result, and would be the same again.
        self._known = {
            (each.format, each.library_set, each.reader, each.dataset, each.feature)
            for each in agenda.known
            if each.status != CellStatus.UNAVAILABLE
        }
        self._reduced: set[tuple[str, Verdict]] = set()

    def rows(
        self, labels: Sequence[str], reading: Sequence[str], sets: Sequence[str], tables: Sequence[str]
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of adapters by readers, both of all library sets, suffix by suffix."""
        by_suffix: dict[str, list[str]] = {}
        for label in labels:
            by_suffix.setdefault(suffix_of(label), []).append(label)
        for suffix, alike in by_suffix.items():
            readers = list(readers_of_tables(reading, sets, suffix))
            here_alone = foreign.writers()
            for of_set in sets:
                with TemporaryDirectory() as folder:
                    places = (
                        TableFile(label, table, str(Path(folder, f"{number}{suffix}")))
                        for number, (label, table) in enumerate(product(alike, tables))
                        if not (of_set and label in here_alone)
                    )
                    yield from self._rows_of_set(of_set, list(places), readers, Path(folder))

    def rows_of_features(
        self, labels: Sequence[str], reading: Sequence[str], sets: Sequence[str]
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of features, which this environment writes, by readers of all library sets."""
        for found in map(find, labels):
            with TemporaryDirectory() as folder:
                files = [
                    TableFile(
                        found.format,
                        each.table,
                        str(Path(folder, f"{number}{found.suffix}")),
                        None,
                        each.name,
                    )
                    for number, each in enumerate(found.features)
                ]
                readers = list(readers_of_features(reading, sets, found))
                yield from self._rows_of_set("", files, readers, Path(folder))

    def _rows_of_set(
        self, of_set: str, files: Sequence[TableFile], readers: Sequence[Reader], folder: Path
    ) -> Iterator[CompatibilityRow]:
        """Yield the rows of the files of one library set, which are written once for all readers."""
        wanted = [
            (reader, [file for file in files if self._is_wanted(file, of_set, reader)])
            for reader in readers
        ]
        needed = {file for _, asked in wanted for file in asked}
        outcomes = written(of_set, [file for file in files if file in needed], self._limit, folder)
        for reader, asked in wanted:
            there = [file for file in asked if not outcomes[file].status]
            for file in asked:
                if outcomes[file].status:
                    yield _row(file, of_set, reader, unwritten(outcomes[file]), folder)
            for file, outcome in reader.read(there, self._limit, folder):
                saved = CanonicalTable.parse(outcomes[file].value)
                found = judge(saved, self._explained(outcome))
                if phrase := self._smallest(file, of_set, reader, found, saved):
                    found = replace(found, sentence=f"{found.sentence}; {phrase}")
                yield _row(file, of_set, reader, found, folder)

    def _is_wanted(self, file: TableFile, of_set: str, reader: Reader) -> bool:
        cell = file.label, of_set, reader.name, file.table, file.feature
        facts = dict(zip(("format", "library_set", "reader", "dataset", "feature"), cell, strict=True))
        return self._agenda.has(cell in self._known, **facts)

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.status is not CellStatus.TIMED_OUT:
            return outcome
        return replace(outcome, sentence=f"not finished after {self._limit:g} seconds")

    def _smallest(
        self, file: TableFile, of_set: str, reader: Reader, found: Judgement, saved: CanonicalTable
    ) -> str:
        """Return the smallest table that shows a finding, as a phrase; empty if none was looked for.

        One finding of each verdict is reduced for each reader.
        """
        mark = reader.name, found.verdict
        if found.verdict not in _SERIOUS or mark in self._reduced:
            return ""
        if len(self._reduced) >= self._reductions:
            return ""
        self._reduced.add(mark)
        with TemporaryDirectory() as folder:
            trial = _Trial(file, of_set, reader, found, self._limit, Path(folder))
            part = smallest(len(saved.columns), len(saved.rows), trial.shows)
            kept = trial.keep(part, self._agenda.out)
        names = joined((repr(saved.columns[position][0]) for position in part.columns), most=3)
        what = f"{'column' if len(part.columns) == 1 else 'columns'} {names}"
        return f"smallest table: {what}, {plural(part.rows, 'row')} from row {part.first}{kept}"


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
        found = judge(CanonicalTable.parse(written.value), read)
        return (found.verdict, found.error) == (self.found.verdict, self.found.error)


def _row(
    file: TableFile, of_set: str, reader: Reader, found: Judgement, folder: Path
) -> CompatibilityRow:
    status = "" if found.status is CellStatus.VALUE else str(found.status)
    sentence = printable(found.sentence.replace(f"{folder}/", ""))
    return CompatibilityRow(
        *(file.label, file.table, ROWS, reader.name, of_set, file.feature),
        *(found.changed, found.retyped, sentence, status),
    )


def _versions(labels: Sequence[str], of_set: str) -> str:
    """Return Python and the libraries of adapters in a library set, with their versions."""
    found = [environment(label, SUITE, of_set).split(", ") for label in labels]
    python, _, *libraries = dict.fromkeys(part for parts in found for part in parts)
    return ", ".join([python, *sorted(libraries)])


def versions(context: Context) -> Iterator[Block]:
    """Yield the versions of the libraries of each set."""
    facts = [each.get(VERSIONS) or {} for each in context.results.metadata]
    found = {name or "this environment": text for each in facts for name, text in each.items()}
    if found:
        yield Block(items=[f"{name}: {text}" for name, text in found.items()])


def counts(context: Context) -> Iterator[Block]:
    """Yield how many cells of tables have which verdict, by format."""
    by_format: dict[str, Counter[Verdict]] = {}
    for row in _of_tables(context):
        by_format.setdefault(_base(row.format), Counter())[row.verdict] += 1
    rows = [
        [name, f"{found.total():,}", *(f"{found[verdict]:,}" for verdict in Verdict)]
        for name, found in by_format.items()
    ]
    if rows:
        yield Block(header=["format", "cells", *Verdict], rows=rows)


def _of_tables(context: Context) -> list[CompatibilityRow]:
    return [row for row in context.rows if not row.feature]


def matrix(context: Context) -> Iterator[Block]:
    """Yield a table for each format: writers by readers."""
    cells: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for row in _of_tables(context):
        of_format = cells.setdefault(_base(row.format), {})
        of_format.setdefault((row.writer, row.reader), Counter())[row.verdict] += 1
    if cells:
        yield Block(text="Tables by their verdicts; an environment without a name after @ is this one.")
    for name, found in cells.items():
        writers, readers = (list(dict.fromkeys(each)) for each in zip(*found, strict=True))
        rows = [
            [writer, *(_cell(found.get((writer, reader), Counter())) for reader in readers)]
            for writer in writers
        ]
        header = ["written by", *(f"read by {reader}" for reader in readers)]
        yield Block(name, header=header, rows=rows, alignment="l" * len(header), level=3)


def worst(context: Context) -> Iterator[Block]:
    """Yield the worst findings, one for each reader and message, with the smallest table of each."""
    seen: dict[tuple[object, ...], CompatibilityRow] = {}
    for row in sorted(context.rows, key=lambda row: "smallest table: " not in row.sentence):
        if row.verdict in _SERIOUS:
            # Differences of a table are of it alone; messages are common to many.
            what = row.subject if row.verdict is Verdict.DIFFERENT else row.sentence[:60]
            seen.setdefault((_base(row.format), row.reader, row.verdict, what), row)
    order = {verdict: place for place, verdict in enumerate(Verdict)}
    found = sorted(seen.values(), key=lambda row: order[row.verdict])
    items = [f"{row.writer} read by {row.reader}, {row.subject}: {row.sentence}" for row in found]
    more = f"{plural(len(items) - _WORST, 'further finding')} of other readers or messages"
    text = "" if items else "No reader crashed, hung, refused a file or changed a value."
    yield Block(text=text, items=[*items[:_WORST], *([more] if len(items) > _WORST else [])])


def untried(context: Context) -> Iterator[Block]:
    """Yield why cells were not tried, each reason with the number of its cells."""
    reasons = Counter(row.sentence for row in context.rows if row.verdict is Verdict.UNTRIED)
    rows = [[f"{count:,}", reason] for reason, count in reasons.most_common()]
    if rows:
        yield Block(header=["cells", "reason"], rows=rows, alignment="rl", fold=True)


def _base(label: str) -> str:
    """Return the format of a label without its engine."""
    return label.partition("[")[0]


_WORDS = {Verdict.DIFFERENT: "**different**", Verdict.CRASH: "**crash**", Verdict.HANG: "**hang**"}


def _cell(found: Counter[Verdict]) -> str:
    if set(found) == {Verdict.UNTRIED}:
        return Verdict.UNTRIED
    parts = [
        f"{found[each]} {_WORDS.get(each, each)}"
        for each in reversed(Verdict)
        if found[each] and each is not Verdict.UNTRIED
    ]
    return ", ".join(parts) or "-"
