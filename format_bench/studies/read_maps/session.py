"""Session of the study of reads: saves each configuration, asks the questions, and keeps the maps."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnavailableError
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import InvalidSelectionError, ReadsNotMappedError, UserDataError
from data_generator import datasets
from format_bench.families.operations import operations_of, registry_of
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.read_map import Method, ReadMap, reads_of
from format_bench.results.candidates import Configuration
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner import user_data
from format_bench.studies.read_maps.counts import Counted, counted
from format_bench.studies.read_maps.questions import (
    CUT,
    QUESTIONS,
    SPARSE,
    Asked,
    Question,
    answer,
    columns_of,
    operations,
    predicate_of,
)

if TYPE_CHECKING:
    from adapter_core.predicate import Predicate

USUAL_SIZE = 100_000
"""Rows of generated data if no number is given; sets of large items have fewer."""

LIMIT_SECONDS = 1800.0
"""Wall time of each step."""


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
class Answer:
    """Map of the reads of one configuration for one question, or the reason why there is none."""

    configuration: Configuration
    asked: Asked
    map: ReadMap | None
    sentence: str = ""
    """The reason; with a map, a remark."""
    counted: Counted | None = None
    """Independent counts, if they were asked for."""


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
    stored = isolation.run(_store, family, dataset, size, path, limit_seconds=LIMIT_SECONDS)
    if stored.status:
        raise UserDataError(f"{dataset}: cannot be generated: {stored.sentence}")
    return Data(family, dataset, stored.value, path)


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


def _store(family: str, dataset: str, size: int | None, path: Path) -> int:
    kind = operations_of(FAMILIES[family])
    size = kind.run_size(dataset, USUAL_SIZE) if size is None else size
    count, _ = kind.store(kind.generate(dataset, size), path)
    return count


def configurations(
    family: str, labels: Sequence[str], codecs: Sequence[str | None]
) -> list[Configuration]:
    """Return the formats, each without a codec or with the chosen codecs that it offers.

    Raises
    ------
    UnknownNameError
        If no format has one of the labels.
    """
    registry = registry_of(FAMILIES[family])
    found = []
    for label in labels:
        try:
            adapter = registry.find(label)
        except UnavailableError:
            found.append(Configuration(label))
            continue
        offered = [each.name for each in adapter.codecs] if isinstance(adapter, CodecChoice) else []
        found += [Configuration(label, each) for each in codecs if each is None or each in offered]
    return found


def answers(
    data: Data, configuration: Configuration, method: Method | None = None, *, check: bool = False
) -> Iterator[Answer]:
    """Save the data beside them, and yield a map for each question; the file is removed at the end.

    Where a format cannot read a part, the map shows the least that contains it, with a remark: of
    the columns of all rows, or of everything. With `check`, the reads of the first question are also
    counted by other means.
    """
    path = data.path.parent / f"case{_suffix(data.family, configuration)}"
    saved = isolation.run(save, data, configuration, path, limit_seconds=LIMIT_SECONDS)
    try:
        for asked in data.asked:
            if saved.status:
                yield Answer(configuration, asked, None, f"{saved.status}: {saved.sentence}")
            else:
                found = _answer(data, configuration, asked, path, method)
                if check and asked == data.asked[0] and found.map and not found.sentence:
                    call = partial(answer, configuration, asked, data.path)
                    found = replace(found, counted=counted(call, path))
                yield found
    finally:
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


# Read instead by a format that cannot filter, before everything.
_LESS_SELECTIVE = {Question.FILTER: Question.COLUMNS}


def save(data: Data, configuration: Configuration, path: Path) -> None:
    """Save stored data in a configuration, and wait until it is on the device."""
    found = operations(data.family, configuration, data.path)
    loaded = found.load(data.path)
    found.check(loaded)
    found.save(loaded, path)
    page_cache.sync(path)


def _answer(
    data: Data, configuration: Configuration, asked: Asked, path: Path, method: Method | None
) -> Answer:
    call = partial(answer, configuration, asked, data.path)
    try:
        return Answer(
            configuration, asked, reads_of(call, path, limit_seconds=LIMIT_SECONDS, method=method)
        )
    except ReadsNotMappedError as error:
        if error.status != CellStatus.UNSUPPORTED:
            return Answer(configuration, asked, None, f"{error.status}: {error}")
        remark = str(error)
    more = replace(asked, question=_LESS_SELECTIVE.get(asked.question, Question.WHOLE), where=None)
    if more.question is Question.WHOLE:
        more = Asked(asked.family, Question.WHOLE)
    found = _answer(data, configuration, more, path, method)
    return Answer(configuration, asked, found.map, remark if found.map else found.sentence)


def _suffix(family: str, configuration: Configuration) -> str:
    try:
        return str(registry_of(FAMILIES[family]).find(configuration.format).suffix)
    except UnavailableError:
        return ""
