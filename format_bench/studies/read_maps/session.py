"""Session of the study of reads: saves each configuration, asks the questions, and keeps the maps."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapter_core import UnavailableError
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import ReadsNotMappedError, UserDataError
from data_generator import datasets
from format_bench.families.operations import operations_of, registry_of
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.read_map import Method, ReadMap, reads_of
from format_bench.results.candidates import Configuration
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner import user_data
from format_bench.studies.read_maps.questions import (
    QUESTIONS,
    Asked,
    Question,
    answer,
    columns_of,
    operations,
)

LIMIT_SECONDS = 1800.0
"""Wall time of each step."""


@dataclass(frozen=True)
class Data:
    """Stored data, which all configurations save."""

    family: str
    name: str
    size: int
    """Rows, images or chunks."""
    columns: tuple[str, ...]
    """Columns to ask for, of a table."""
    path: Path

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions to these data; the first is drawn."""
        return tuple(
            Asked(self.family, each, self.columns if each is Question.COLUMNS else ())
            for each in QUESTIONS[self.family]
        )


@dataclass(frozen=True)
class Answer:
    """Map of the reads of one configuration for one question, or the reason why there is none."""

    configuration: Configuration
    asked: Asked
    map: ReadMap | None
    sentence: str = ""
    """The reason; with a map, a remark."""


def generated(dataset: str, size: int | None, columns: Sequence[str], folder: Path) -> Data:
    """Generate a data set and store it in a folder.

    Raises
    ------
    UnknownNameError
        If there is no such data set.
    UserDataError
        If it cannot be made, or lacks a column that is asked for.
    """
    family = datasets.find(dataset).family
    if family not in QUESTIONS:
        raise UserDataError(f"{dataset}: there are no questions to {family}")
    path = folder / "data"
    stored = isolation.run(_store, family, dataset, size, path, limit_seconds=LIMIT_SECONDS)
    if stored.status:
        raise UserDataError(f"{dataset}: cannot be generated: {stored.sentence}")
    return Data(family, dataset, stored.value, _columns(family, path, columns), path)


def own(source: str, sample: int | None, columns: Sequence[str], folder: Path) -> Data:
    """Store a user's own data in a folder.

    Raises
    ------
    UserDataError
        If they cannot be read, or lack a column that is asked for.
    """
    found = user_data.prepare(user_data.Source(source, sample), folder)
    path: Path = found.place.value[0]
    return Data(found.family, found.name, found.rows, _columns(found.family, path, columns), path)


def _columns(family: str, path: Path, wanted: Sequence[str]) -> tuple[str, ...]:
    if family != "tables":
        if wanted:
            raise UserDataError("columns are asked of tables only")
        return ()
    chosen = isolation.run(_columns_in, path, wanted, limit_seconds=LIMIT_SECONDS)
    if chosen.status:
        raise UserDataError(chosen.sentence)
    found: tuple[str, ...] = chosen.value
    return found


def _columns_in(path: Path, wanted: Sequence[str]) -> tuple[str, ...]:
    names = operations_of(FAMILIES["tables"]).load(path).columns
    return columns_of(list(names), wanted)


def _store(family: str, dataset: str, size: int | None, path: Path) -> int:
    kind = operations_of(FAMILIES[family])
    count, _ = kind.store(kind.generate(dataset, size), path)
    return count


def configurations(
    family: str, labels: Sequence[str], codecs: Sequence[str | None]
) -> list[Configuration]:
    """Return the formats, each without a codec or with those of the codecs that it offers.

    Raises
    ------
    UnknownNameError
        If there is no format of a label.
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
    data: Data, configuration: Configuration, folder: Path, method: Method | None = None
) -> Iterator[Answer]:
    """Save the data, and yield a map for each question; the file is removed at the end.

    Where a format cannot read a part, the map is that of reading everything, with a remark.
    """
    path = folder / f"case{_suffix(data.family, configuration)}"
    saved = isolation.run(save, data, configuration, path, limit_seconds=LIMIT_SECONDS)
    try:
        for asked in data.asked:
            if saved.status:
                yield Answer(configuration, asked, None, f"{saved.status}: {saved.sentence}")
            else:
                yield _answer(data, configuration, asked, path, method)
    finally:
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


def save(data: Data, configuration: Configuration, path: Path) -> None:
    """Save stored data in a configuration, and wait until it is on the device."""
    found = operations(data.family, configuration, data.path)
    found.save(found.load(data.path), path)
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
        remark = f"reads everything: {error}"
    whole = _answer(data, configuration, Asked(asked.family, Question.WHOLE), path, method)
    return Answer(configuration, asked, whole.map, remark if whole.map else whole.sentence)


def _suffix(family: str, configuration: Configuration) -> str:
    try:
        return str(registry_of(FAMILIES[family]).find(configuration.format).suffix)
    except UnavailableError:
        return ""
