"""What the benchmarks measure, as operations: what a reader would say has become slower or larger.

The values of each cell over the points of a line.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.asv_support.results import Cell
    from format_bench.changes.history import Line
    from format_bench.results.noise_floor import Floors


class Kind(StrEnum):
    """How values of an operation vary."""

    TIME = "time"
    MEMORY = "memory"
    SIZE = "size"
    """Known exactly, though a library writes its own version into files: see `LEAST`."""
    COUNT = "count"
    """Known exactly."""


@dataclass(frozen=True)
class Operation:
    """What one or several benchmarks of a suite measure."""

    name: str
    kind: Kind

    def least_effect(self, floors: Floors | None) -> float:
        """Return the share by which a value must change to be of interest.

        The noise floor of the machine, and `LEAST` where that is larger or no floor was measured.
        """
        floor = {
            Kind.TIME: floors.wall_time if floors else UNMEASURED[Kind.TIME],
            Kind.MEMORY: floors.memory if floors else UNMEASURED[Kind.MEMORY],
            Kind.SIZE: floors.size if floors else 0.0,
            Kind.COUNT: 0.0,
        }[self.kind]
        return max(floor, LEAST[self.kind])


LEAST = {Kind.TIME: 0.02, Kind.MEMORY: 0.02, Kind.SIZE: 0.005, Kind.COUNT: 0.0}
"""Shares below which nobody would act on a change."""

UNMEASURED = {Kind.TIME: 0.1, Kind.MEMORY: 0.1}
"""What stands for noise floors that were not measured: rather more than quiet machines have."""

OPERATIONS = {
    "time_save": Operation("save", Kind.TIME),
    "time_durable_save": Operation("save", Kind.TIME),
    "time_read": Operation("read", Kind.TIME),
    "track_open_time": Operation("open", Kind.TIME),
    "track_random_read": Operation("random read", Kind.TIME),
    "track_batch_read": Operation("random read", Kind.TIME),
    "track_save_memory": Operation("save memory", Kind.MEMORY),
    "track_read_memory": Operation("read memory", Kind.MEMORY),
    "track_held_memory": Operation("held memory", Kind.MEMORY),
    "track_size": Operation("size", Kind.SIZE),
    "track_files": Operation("files", Kind.COUNT),
    "track_lost_columns": Operation("lost columns", Kind.COUNT),
    "track_changed_images": Operation("changed images", Kind.COUNT),
}
"""By the methods of the suites. The peak of whole processes is left out: the growth during the call,
which is there, too, says it better."""

SUITES = {"compression": "compressed", "image": "images"}
"""What is said of a format in suites where it is not plain tables."""


PAGES_BYTES = 2**20
"""Added to growths of memory: below a MiB they are a few pages more or less."""


class Group(NamedTuple):
    """What one sentence is about: an operation of a format."""

    module: str
    """The module of suites, as in "tabular"."""
    format: str
    operation: Operation

    def __str__(self) -> str:
        suite = f" ({SUITES[self.module]})" if self.module in SUITES else ""
        return f"{self.format}{suite} {self.operation.name}"


@dataclass(frozen=True)
class CellSeries:
    """One cell over all points of a line."""

    group: Group
    benchmark: str
    dataset: str
    variant: str
    """What tells it from others of that group and data set, as in "durable" or "cold"; may be empty."""
    cells: list[Cell | None]
    """At each point; None where it was not run."""
    twice: list[bool]
    """At each point, whether samples come from two processes or more."""

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """Logarithms of the values, shape (points,); not a number where there is no value."""
        return np.array([self._logarithm(cell.value if cell else None) for cell in self.cells])

    @cached_property
    def halves(self) -> NDArray[np.float64]:
        """Logarithms of the medians of each half of the samples, the smaller first, shape (points, 2).

        The halves are of different processes, so what both show is no accident of one. Not a number
        where there is one process alone.
        """
        return np.array(
            [
                sorted(map(self._logarithm, _halves(cell.samples)))
                if cell and twice and len(cell.samples) > 1
                else (np.nan, np.nan)
                for cell, twice in zip(self.cells, self.twice, strict=True)
            ]
        )

    def _logarithm(self, value: float | None) -> float:
        if value is None:
            return np.nan
        offset = PAGES_BYTES if self.group.operation.kind is Kind.MEMORY else 0
        return float(np.log(value + offset)) if value + offset > 0 else np.nan

    @property
    def name(self) -> str:
        """Data set and variant, as in "eq, cold"."""
        return ", ".join(filter(None, (self.dataset, self.variant)))


def _halves(samples: Sequence[float]) -> tuple[float, float]:
    middle = len(samples) // 2
    return statistics.median(samples[:middle]), statistics.median(samples[middle:])


def cell_series(line: Line) -> list[CellSeries]:
    """Return the series of all cells whose operation is known, in the order of the suites."""
    found: dict[tuple[str, ...], list[Cell | None]] = {}
    for number, point in enumerate(line.points):
        for cell in point.run.cells:
            key = (cell.benchmark, cell.format, cell.dataset, *cell.axes.values())
            found.setdefault(key, [None] * len(line.points))[number] = cell
    series = []
    for (benchmark, label, dataset, *axes), cells in found.items():
        module, _, method = benchmark.split(".")
        if method in OPERATIONS:
            group = Group(module, label, OPERATIONS[method])
            twice = [benchmark in point.twice for point in line.points]
            variant = ", ".join(filter(None, (VARIANTS.get(method), *axes)))
            series.append(CellSeries(group, benchmark, dataset, variant, cells, twice))
    return series


VARIANTS = {"time_durable_save": "durable", "track_batch_read": "batch"}
"""What tells benchmarks of one operation apart."""
