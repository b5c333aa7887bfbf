"""What the runner measures in one go: one format on one data set, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import data_formats
from adapter_core import UnknownLevelError

if TYPE_CHECKING:
    from format_bench.instruments.threads import Threads


Suite = Literal["tabular", "compression", "image"]


@dataclass(frozen=True)
class Case:
    """One format on one data set, with or without one of its codecs.

    Raises
    ------
    UnknownNameError, UnavailableError, UnknownLevelError, UnsupportedError
        If there is no such format that has such a codec, or the codec has no such level.
    """

    format: str
    """The label."""
    dataset: str
    rows: int
    """Of the table, or images of the set."""
    threads: Threads = "all"
    codec: str | None = None
    """By default the format is told to compress nothing."""
    level: int | None = None
    """The level that is used: where none is given, the codec's default takes its place."""
    suite: Suite = "tabular"

    def __post_init__(self) -> None:
        if self.codec is not None:
            codec = data_formats.find(self.format).codec_named(self.codec)
            object.__setattr__(self, "level", codec.level_or_default(self.level))
        elif self.level is not None:
            raise UnknownLevelError(f"{self.format}: level {self.level} is given without a codec")


@dataclass(frozen=True)
class Step:
    """What is measured in one process."""

    name: str
    cache: str | None
    """State of the page cache for what depends on it: "warm", "cold", or None if nothing does."""
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """What a step has found of one metric."""

    metric: str
    repeats: list[float]
    """All samples, in the order taken and in the metric's unit; the value is their median."""
    sentence: str = ""
    """What there is to say of it."""


_SAVE = ("save time", "save CPU time", "durable save time", "save memory", "size")
_READ = ("read time", "read CPU time", "read memory", "held memory")
_RANDOM = ("random read time per image", "batch read time per image")

SAVE = Step("save", None, _SAVE)
READ = Step("read", "warm", (*_READ, "lost columns"))
COLD_READ = Step("cold read", "cold", ("read time", "read CPU time", "read amplification"))
SAVE_IMAGES = Step("save", None, (*_SAVE, "files"))
READ_IMAGES = Step("read", "warm", (*_READ, "changed images"))
RANDOM_READ = Step("random read", "warm", ("open time", *_RANDOM))
COLD_RANDOM_READ = Step("cold random read", "cold", _RANDOM)

STEPS = (SAVE, READ, COLD_READ)
"""Those of a table, as they follow each other; the first leaves the file that the others read."""

IMAGE_STEPS = (SAVE_IMAGES, READ_IMAGES, COLD_READ, RANDOM_READ, COLD_RANDOM_READ)
"""Likewise, of a set of images."""


def steps_of(case: Case) -> tuple[Step, ...]:
    """Return all steps of a case."""
    return IMAGE_STEPS if case.suite == "image" else STEPS
