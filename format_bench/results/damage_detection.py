"""Shipped results of the study of damage: which formats return wrong values from damaged files.

The table is damage_detection.csv, the output of `format-bench study damage --facts`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from format_bench.results import flat_csv


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


def to_csv(counts: Iterable[DamageCounts]) -> str:
    """Return the table as CSV."""
    return flat_csv.to_csv(DamageCounts, counts)


def from_csv(text: str) -> list[DamageCounts]:
    """Return the table of a CSV text."""
    return flat_csv.from_csv(DamageCounts, text)


@functools.cache
def shipped() -> dict[tuple[str, str, str, bool], DamageCounts]:
    """Return the shipped table by family, format, codec and checksums."""
    file = resources.files("format_bench.results").joinpath("damage_detection.csv")
    found = from_csv(file.read_text(encoding="utf-8"))
    return {(each.family, each.format, each.codec, each.checksums): each for each in found}
