"""Findings of studies that are shipped: damaged files, costs of links, and readers of features.

The tables are damage_detection.csv, link_costs.csv and feature_readings.csv, the outputs of
`format-bench study damage`, `links` and `compatibility` with `--facts`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, TypeVar

from format_bench.results import flat_csv

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

LINK_FAMILY = "tables"
"""Family of the formats with costs of links; other families have formats of the same names."""

WHOLE, SPARSE = "whole", "sparse"
"""The questions for all columns, and for two."""


@dataclass(frozen=True)
class DamageCounts:
    """Numbers of trials of a format with its options."""

    family: str
    format: str
    """Label of the adapter."""
    codec: str
    """Empty if none."""
    checksums: bool
    """True if the optional checksums were written and verified."""
    dataset: str
    rows: int
    flips: int
    """Trials of one flipped bit."""
    flips_wrong: int
    """Those that returned wrong values, with or without a printed message."""
    others: int
    """Trials of other kinds of damage."""
    others_wrong: int
    crashes: int
    """Of all kinds."""
    hangs: int
    date: str
    libraries: str
    """Distributions and their versions."""

    @property
    def wrong(self) -> int:
        """Return the number of trials of all kinds that returned wrong values."""
        return self.flips_wrong + self.others_wrong

    @property
    def trials(self) -> int:
        """Return the number of trials of all kinds."""
        return self.flips + self.others


@dataclass(frozen=True)
class LinkCosts:
    """Costs of reading a format from a server."""

    format: str
    """Label of the adapter."""
    scheme: str
    """Protocol: ``http``, ``s3`` or ``root``."""
    question: str
    """`WHOLE`, or ``sparse`` for two columns."""
    requests: int
    connections: int
    sent_bytes: int
    file_bytes: int
    cpu_seconds: float
    round_trips: float
    """Round trips that the reader waits for one after the other."""
    transfer_share: float
    """Share of the time of transfer that adds to the wall time."""
    mean_error: float
    """Mean size of the relative errors of predicted times."""
    largest_error: float
    link: str
    """Kind of link: ``network`` or ``delays``."""
    dataset: str
    rows: int
    date: str
    libraries: str
    """Distributions and their versions."""

    @property
    def share(self) -> float:
        """Return the bytes sent, as a multiple of the file's size."""
        return self.sent_bytes / self.file_bytes


@dataclass(frozen=True)
class FeatureReading:
    """Verdict of a reader on a file with a feature of its format."""

    format: str
    """Label of its adapters, without an engine."""
    feature: str
    reader: str
    """A library with its version, as in "pyarrow-15.0.0", or a program in another language."""
    verdict: str
    sentence: str
    """Differences, the message, or the reason."""
    date: str


@functools.cache
def damage() -> dict[tuple[str, str, str, bool], DamageCounts]:
    """Return the counts by family, format, codec and checksums."""
    found = _table(DamageCounts, "damage_detection.csv")
    return {(each.family, each.format, each.codec, each.checksums): each for each in found}


@functools.cache
def link_costs(question: str = WHOLE) -> dict[str, LinkCosts]:
    """Return the costs of reads by format, by default of whole ones, each by its first protocol."""
    found: dict[str, LinkCosts] = {}
    for each in _table(LinkCosts, "link_costs.csv"):
        if each.question == question:
            found.setdefault(each.format, each)
    return found


@functools.cache
def feature_readings() -> list[FeatureReading]:
    """Return the verdicts of all readers tried on features, in the order of declarations."""
    return _table(FeatureReading, "feature_readings.csv")


def _table(of: type[Row], name: str) -> list[Row]:
    file = resources.files("format_bench.results").joinpath(name)
    return flat_csv.from_csv(of, file.read_text(encoding="utf-8"))
