"""The points of a history: what was measured of each commit, and with which libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.asv_support.results import Run

FOLDERS = {"image": "image_storages"}
"""Where the adapters of a module of suites are; those of the others are in data_formats."""

HARDWARE = ("machine", "arch", "cpu", "num_cpu", "ram")
"""What asv knows of a machine; where one of these differs, it is another machine."""


@dataclass(frozen=True)
class Point:
    """One commit in one environment on one machine."""

    name: str
    """Of the x axis: the month, as in "2026-03", or the day where a month has several commits."""
    date: datetime
    """When it was committed."""
    libraries: Mapping[str, str]
    """Version of each library of its set, by canonical name; empty if not known."""
    system: str
    """The operating system and its version, as asv tells them."""
    run: Run
    twice: frozenset[str]
    """The benchmarks whose samples come from two rounds of the run or more, each with a process of its
    own: what disturbs one process does not disturb both."""


@dataclass(frozen=True)
class Line:
    """What can be compared: the points of one environment on one machine, in order of date."""

    hardware: Mapping[str, str]
    """As `HARDWARE` names it."""
    environment: str
    points: list[Point]

    @property
    def machine(self) -> str:
        """The name of the machine."""
        return self.hardware["machine"]


@dataclass(frozen=True, eq=False)
class History:
    """All results of a folder; each reading is a history of its own."""

    lines: list[Line]
    """The line with the newest point first."""
    requires: Mapping[tuple[str, str], tuple[str, ...]]
    """The libraries that an adapter declares, in its order, by folder and label."""

    def libraries_of(self, module: str, label: str) -> tuple[str, ...]:
        """Return the canonical names of the libraries that the adapter of a suite's format declares."""
        return self.requires.get((FOLDERS.get(module, "data_formats"), label), ())
