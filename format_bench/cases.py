"""What the runner measures in one go: one format on one table, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import data_formats
from adapter_core import UnknownLevel

if TYPE_CHECKING:
    from format_bench.threads import Threads

SUITE = "tabular"


@dataclass(frozen=True)
class Case:
    """One format on one table, with or without one of its codecs.

    Raises
    ------
    UnknownName, Unavailable, UnknownLevel, Unsupported
        If there is no such format that has such a codec, or the codec has no such level.
    """

    format: str
    """The label."""
    dataset: str
    rows: int
    threads: Threads = "all"
    codec: str | None = None
    """By default the format is told to compress nothing."""
    level: int | None = None
    """The level that is used: where none is given, the codec's default takes its place."""

    def __post_init__(self) -> None:
        if self.codec is not None:
            codec = data_formats.find(self.format).codec_named(self.codec)
            object.__setattr__(self, "level", codec.level_or_default(self.level))
        elif self.level is not None:
            raise UnknownLevel(f"{self.format}: level {self.level} is given without a codec")


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


SAVE = Step("save", None, ("save time", "save CPU time", "durable save time", "save memory", "size"))
READ = Step("read", "warm", ("read time", "read CPU time", "read memory", "held memory", "lost columns"))
COLD_READ = Step("cold read", "cold", ("read time", "read CPU time", "read amplification"))

STEPS = (SAVE, READ, COLD_READ)
"""In the order in which they are made; the first leaves the file that the others read."""
