"""What a run measures: the cases that follow from what the user asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import data_formats
import data_generator
import image_storages
from adapter_core.errors import (
    InvalidRequestError,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
)
from data_generator import datasets
from format_bench.operations.cases import Case

if TYPE_CHECKING:
    from format_bench.instruments.threads import Threads
    from format_bench.operations.cases import Suite


ROWS = {"tabular": 100_000, "compression": 100_000, "image": 2_000}
"""Rows, or images, where the user names no number: what gives an answer in minutes."""

DEFAULT_DATASETS = {"tabular": "eq", "compression": "eq", "image": "cifar-like"}

NO_CODEC = "none"
OWN_DEFAULT = "default"
COMPRESSION_CODECS = (NO_CODEC, OWN_DEFAULT, "lz4", "zstd:1")
"""The codecs of the compression suite: the thesis' own, and what each library takes by itself."""


@dataclass(frozen=True)
class Wishes:
    """What the user asked for."""

    suite: Suite
    formats: tuple[str, ...] = ()
    """Labels; none for all."""
    datasets: tuple[str, ...] = ()
    """Names; none for the suite's default."""
    rows: int | None = None
    codecs: tuple[str, ...] = ()
    """As in "zstd", "zstd:3", "none" or "default"; none for the suite's own."""
    threads: Threads = "all"


@dataclass(frozen=True)
class Plan:
    """The cases of a run."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...]
    """What was asked for and cannot be, in sentences without a full stop."""


def plan(wishes: Wishes, own: Sequence[tuple[str, int]] = ()) -> Plan:
    """Return the cases of a run, data set by data set.

    Parameters
    ----------
    wishes : Wishes
        What the user asked for.
    own : sequence of (str, int)
        Names and numbers of rows of the user's own data sets, which take the place of generated ones.

    Raises
    ------
    UnknownNameError
        If there is no such format, data set or codec.
    InvalidRequestError
        If nothing is left to measure, or what was asked for contradicts itself.
    """
    if wishes.rows is not None and wishes.rows < 1:
        raise InvalidRequestError(f"--rows {wishes.rows}: at least 1 is needed")
    if wishes.codecs and wishes.suite == "image":
        raise InvalidRequestError("--codecs: image storages offer no choice of a codec")
    registry = image_storages.registry if wishes.suite == "image" else data_formats.registry
    labels = _known("format", wishes.formats, registry.names()) or registry.usual_names()
    cases: list[Case] = []
    left_out: dict[str, None] = {}
    for dataset, rows in own or _generated(wishes):
        for label in labels:
            for codec, level in _codecs(wishes):
                try:
                    used = _default_codec(label) if codec == OWN_DEFAULT else codec
                    case = Case(label, dataset, rows, wishes.threads, used, level, wishes.suite)
                    cases.append(case)
                except (
                    UnknownNameError,
                    UnknownLevelError,
                    UnsupportedError,
                    UnavailableError,
                ) as error:
                    left_out[str(error)] = None
    if not cases:
        raise InvalidRequestError(f"nothing is left to measure: {'; '.join(left_out)}")
    return Plan(tuple(dict.fromkeys(cases)), tuple(left_out))


def _default_codec(label: str) -> str | None:
    try:
        return data_formats.find(label).default_codec
    except UnavailableError:
        return None  # as the runner will find out, and record


def _generated(wishes: Wishes) -> list[tuple[str, int]]:
    images = wishes.suite == "image"
    known = data_generator.image_names() if images else data_generator.names()
    names = _known("data set", wishes.datasets, known) or [DEFAULT_DATASETS[wishes.suite]]
    usual = ROWS[wishes.suite]
    return [(name, wishes.rows or datasets.find(name).count_for_run(usual)) for name in names]


def _known(what: str, names: Iterable[str], known: list[str]) -> list[str]:
    """Return names without doubles, as the known ones are spelt, if only the case differs."""
    spelt = {name.lower(): name for name in known}
    found: dict[str, None] = {}
    for name in names:
        if name.lower() not in spelt:
            raise UnknownNameError(what, name, known)
        found[spelt[name.lower()]] = None
    return list(found)


def _codecs(wishes: Wishes) -> list[tuple[str | None, int | None]]:
    usual = COMPRESSION_CODECS if wishes.suite == "compression" else (NO_CODEC,)
    return [_codec(text) for text in wishes.codecs or usual]


def _codec(text: str) -> tuple[str | None, int | None]:
    """Return codec and level of a text like "zstd:3"; of "blosc:lz4" all is the codec's name."""
    name, colon, level = text.rpartition(":")
    try:
        number = int(level) if colon else None
    except ValueError:
        number = None
    name = text if number is None else name
    if name == NO_CODEC:
        return None, None
    return name, number
