"""Maps of reads: each configuration is saved and asked the questions, and its maps are kept."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from adapter_core import UnavailableError
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import InvalidSelectionError, ReadsNotMappedError, UserDataError
from adapter_core.predicate import Predicate
from data_generator import datasets
from format_bench.families.cases import Case
from format_bench.families.operations import operations_of, registry_of
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.read_map import Method, ReadMap, reads_of
from format_bench.instruments.read_map.counts import LIMIT_SECONDS, Counted, counted
from format_bench.results.candidates import Configuration
from format_bench.results.load import MAPS
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyForm
from format_bench.results.suites import FAMILIES
from format_bench.runner import user_data
from format_bench.runner.executor import isolated
from format_bench.runner.steps import leave_file, store_data
from format_bench.studies.declared import rows
from format_bench.studies.read_maps.questions import (
    CUT,
    QUESTIONS,
    SPARSE,
    Asked,
    Question,
    answer,
    columns_of,
    predicate_of,
)

# Rows of generated data if no number is given; sets of large items have fewer.
USUAL_SIZE = 100_000


@dataclass(frozen=True)
class Data:
    """Stored data, which all configurations save."""

    family: str
    name: str
    size: int
    """Rows, images or chunks."""
    path: Path
    """The data, as the family's operations store them."""
    columns: tuple[str, ...] = ()
    """Columns to ask for, of a table."""
    where: Predicate | None = None
    """Condition for the rows to ask for, of a table."""

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions to these data; the first is drawn."""
        return tuple(
            Asked(
                self.family,
                each,
                self.columns if each in (Question.COLUMNS, Question.FILTER) else (),
                self.where if each is Question.FILTER else None,
            )
            for each in QUESTIONS[self.family]
            if each is not Question.FILTER or self.where
        )


@dataclass(frozen=True)
class Mapped:
    """Map of the reads of one configuration for one question, or the reason why there is none."""

    configuration: Configuration
    asked: Asked
    map: ReadMap | None
    sentence: str = ""
    """The reason; with a map, a remark."""
    counted: Counted | None = None
    """Independent counts, if they were asked for."""


@dataclass(frozen=True)
class ReadFigures:
    """Figures of the reads of one configuration for one question."""

    format: str
    codec: str
    dataset: str
    rows: int
    """Rows, images or chunks."""
    question: str
    asked: str
    """The question in words, with its columns and condition."""
    cache: str
    """"cold": exact maps are made without the page cache, others of files that are not in it."""
    method: str = ""
    """"exact" or "residency"; empty without a map."""
    share: float | None = None
    """Distinct bytes by the size; an upper bound by residency."""
    asked_bytes: int | None = None
    """Bytes of all requests; None by residency."""
    requests: int | None = None
    file_bytes: int = 0
    status: str = ""
    """Empty with a map."""
    sentence: str = ""
    """A remark and the file of the map, or the reason for none."""


FORM = StudyForm(
    suite="reads",
    of=ReadFigures,
    values={
        "share": "read amplification",
        "asked_bytes": "query bytes",
        "requests": "query requests",
        "file_bytes": ("size", ""),
    },
    named={"question": "query"},
    reason="sentence",
)


def generated(dataset: str, size: int | None, folder: Path) -> Data:
    """Generate a data set and store it in a folder.

    Raises
    ------
    UnknownNameError
        If the data set does not exist.
    UserDataError
        If it cannot be made, or its family is not asked questions.
    """
    family = datasets.find(dataset).family
    if family not in QUESTIONS:
        raise UserDataError(f"{dataset}: there are no questions to {family}")
    path = folder / "data"
    size = size or operations_of(FAMILIES[family]).run_size(dataset, USUAL_SIZE)
    suite = FAMILIES[family].suites[0]
    # In this environment, not in that of the format, which a case has to name.
    case = Case(registry_of(FAMILIES[family]).names()[0], dataset, size, suite=suite.name)
    stored = isolation.run(store_data, case, path, limit_seconds=LIMIT_SECONDS)
    if stored.status:
        raise UserDataError(f"{dataset}: cannot be generated: {stored.sentence}")
    return Data(family, dataset, stored.value[0], path)


def own(source: str, sample: int | None, folder: Path) -> Data:
    """Store a user's own data in a folder.

    Raises
    ------
    UserDataError
        If they cannot be read.
    """
    found = user_data.prepare(user_data.Source(source, sample), folder)
    path: Path = found.place.value[0]
    return Data(found.family, found.name, found.rows, path)


def with_selection(data: Data, columns: Sequence[str], where: str | None) -> Data:
    """Return the data with the columns and the condition of the questions; others with neither.

    Raises
    ------
    InvalidSelectionError
        If the condition has another form, or columns are asked of anything but a table.
    UserDataError
        If the table lacks a column.
    """
    if data.family != "tables":
        if columns or where:
            raise InvalidSelectionError("columns and conditions are asked of tables only")
        return data
    predicate = predicate_of(where) if where else None
    needed = (*columns, *(predicate.columns if predicate else ()))
    named = isolation.run(_columns_in, data.path, columns, needed, limit_seconds=LIMIT_SECONDS)
    if named.status:
        raise UserDataError(named.sentence)
    chosen: tuple[str, ...] = named.value
    return replace(data, columns=chosen, where=predicate or (CUT if chosen == SPARSE else None))


def _columns_in(path: Path, columns: Sequence[str], needed: Sequence[str]) -> tuple[str, ...]:
    names = list(operations_of(FAMILIES["tables"]).load(path).columns)
    columns_of(names, needed)
    return columns_of(names, columns)


def cases(data: Data, labels: Sequence[str], codecs: Sequence[str | None]) -> list[Case]:
    """Return the formats on data, each without a codec or with the chosen codecs that it offers.

    Raises
    ------
    UnknownNameError
        If no format has one of the labels.
    """
    kind = FAMILIES[data.family]
    found = []
    for label in labels:
        try:
            adapter = registry_of(kind).find(label)
        except UnavailableError:
            adapter = None  # as its process will find out, and say
        offered = [each.name for each in adapter.codecs] if isinstance(adapter, CodecChoice) else []
        found += [
            Case(label, data.name, data.size, codec=each, suite=kind.suites[0].name)
            for each in (codecs if adapter else [None])
            if each is None or each in offered
        ]
    return found


def maps(
    data: Data, case: Case, method: Method | None = None, *, check: bool = False
) -> Iterator[Mapped]:
    """Save the data beside them, and yield a map for each question; the file is removed at the end.

    Where a format cannot read a part, the map shows the least that contains it, with a remark: of
    the columns of all rows, or of everything. With `check`, the reads of the first question are also
    counted by other means.
    """
    path = data.path.parent / case.file_name
    folder = data.path.parent
    saved = isolated(case, _save, case, data.path, path, limit_seconds=LIMIT_SECONDS, folder=folder)
    try:
        for asked in data.asked:
            if saved.status:
                yield Mapped(_named(case), asked, None, f"{saved.status}: {saved.sentence}")
            else:
                found = _mapped(data, case, asked, path, method)
                if check and asked == data.asked[0] and found.map and not found.sentence:
                    call = partial(answer, case, asked, data.path)
                    found = replace(found, counted=counted(call, path))
                yield found
    finally:
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


# Read instead by a format that cannot filter, before everything.
_LESS_SELECTIVE = {Question.FILTER: Question.COLUMNS}


def _named(case: Case) -> Configuration:
    return Configuration(case.format, case.codec, family=case.family.name)


def _save(case: Case, data: Path, path: Path) -> None:
    """Save stored data, and wait until they are on the device: pages to be written stay in the cache."""
    leave_file(case, data, path)
    page_cache.sync(path)


def _mapped(data: Data, case: Case, asked: Asked, path: Path, method: Method | None) -> Mapped:
    call = partial(answer, case, asked, data.path)
    try:
        found = reads_of(call, path, limit_seconds=LIMIT_SECONDS, method=method)
        return Mapped(_named(case), asked, found)
    except ReadsNotMappedError as error:
        if error.status != CellStatus.UNSUPPORTED:
            return Mapped(_named(case), asked, None, f"{error.status}: {error}")
        remark = str(error)
    more = replace(asked, question=_LESS_SELECTIVE.get(asked.question, Question.WHOLE), where=None)
    if more.question is Question.WHOLE:
        more = Asked(asked.family, Question.WHOLE)
    less = _mapped(data, case, more, path, method)
    return Mapped(_named(case), asked, less.map, remark if less.map else less.sentence)


def kept(data: Data, answers: Iterable[Mapped], out: Path) -> Iterator[Mapped]:
    """Yield answers when their figures are among the records of a folder, and their maps beside them."""
    shown, measured = itertools.tee(answers)
    figures = (_figures(data, each, out) for each in measured)
    for each, _ in zip(shown, rows.kept(FORM, out, figures), strict=False):
        yield each


def _figures(data: Data, answer: Mapped, out: Path) -> ReadFigures:
    """Return the figures of an answer, whose map is in a file of NumPy then."""
    configuration, found = answer.configuration, answer.map
    codec = configuration.codec or "none"
    place = configuration.format, codec, data.name, data.size, answer.asked.question.value
    asked = answer.asked.phrase, "cold"
    if found is None:
        known, _, reason = answer.sentence.partition(": ")
        is_known = known in set(CellStatus)
        status, sentence = (known, reason) if is_known else ("failed", answer.sentence)
        return ReadFigures(*place, *asked, status=status, sentence=sentence)
    file = rows.evidence(out, MAPS, ".npz", *place)
    found.write(out / file)
    remark = f"{answer.sentence}; " if answer.sentence else ""
    return ReadFigures(
        *(*place, *asked, found.method.value),
        *(found.share, found.asked_bytes, found.requests, found.file_bytes),
        sentence=f"{remark}map in {file}",
    )
