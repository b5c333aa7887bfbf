"""Series of each cell over the points of a line, grouped by format and operation."""

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
    from format_bench.changes.history import HistoryLine
    from format_bench.results.noise_floor import Floors


class NoiseKind(StrEnum):
    """Variation of the values of an operation from run to run."""

    TIME = "time"
    MEMORY = "memory"
    SIZE = "size"
    """Exact, though a library writes its own version into files: see `LEAST_EFFECTS`."""
    COUNT = "count"
    """Exact."""


@dataclass(frozen=True)
class Operation:
    """Quantity that one or several benchmarks of a suite measure, under the name that readers see."""

    name: str
    kind: NoiseKind

    def least_effect(self, floors: Floors | None) -> float:
        """Return the share by which a value must change to be of interest.

        That is the noise floor of the machine, or the entry of `LEAST_EFFECTS` if it is larger.
        """
        floor = {
            NoiseKind.TIME: floors.wall_time if floors else UNMEASURED_FLOOR,
            NoiseKind.MEMORY: floors.memory if floors else UNMEASURED_FLOOR,
            NoiseKind.SIZE: floors.size if floors else 0.0,
            NoiseKind.COUNT: 0.0,
        }[self.kind]
        return max(floor, LEAST_EFFECTS[self.kind])


OPERATIONS = {
    "time_save": Operation("save", NoiseKind.TIME),
    "time_durable_save": Operation("save", NoiseKind.TIME),
    "time_read": Operation("read", NoiseKind.TIME),
    "track_open_time": Operation("open", NoiseKind.TIME),
    "track_random_read": Operation("random read", NoiseKind.TIME),
    "track_batch_read": Operation("random read", NoiseKind.TIME),
    # Peaks of whole processes are left out: the growth during the call shows the same more clearly.
    "track_save_memory": Operation("save memory", NoiseKind.MEMORY),
    "track_read_memory": Operation("read memory", NoiseKind.MEMORY),
    "track_held_memory": Operation("held memory", NoiseKind.MEMORY),
    "track_size": Operation("size", NoiseKind.SIZE),
    "track_files": Operation("files", NoiseKind.COUNT),
    "track_lost_columns": Operation("lost columns", NoiseKind.COUNT),
    "track_changed_images": Operation("changed images", NoiseKind.COUNT),
}
"""Operations by the methods of the suites; other methods are not searched for changes."""

VARIANTS = {"time_durable_save": "durable", "track_batch_read": "batch"}
"""Names that distinguish the benchmarks of one operation."""

SUITES = {"compression": "compressed", "image": "images"}
"""Modules of suites that are named beside a format; plain tables are not."""

LEAST_EFFECTS = {
    NoiseKind.TIME: 0.02,
    NoiseKind.MEMORY: 0.02,
    NoiseKind.SIZE: 0.005,
    NoiseKind.COUNT: 0.0,
}
"""Shares below which nobody would act on a change."""

UNMEASURED_FLOOR = 0.1
"""Noise floor where none was measured: rather more than quiet machines have."""

MEMORY_OFFSET_BYTES = 2**20
"""Added to growths of memory: below a MiB they are a few pages more or less."""


class FormatOperation(NamedTuple):
    """An operation of a format in a suite: the cells that one sentence is about."""

    module: str
    """Module of the suite, e.g. "tabular"."""
    format: str
    operation: Operation

    def __str__(self) -> str:
        suite = f" ({SUITES[self.module]})" if self.module in SUITES else ""
        return f"{self.format}{suite} {self.operation.name}"


@dataclass(frozen=True)
class CellSeries:
    """One cell over all points of a line."""

    group: FormatOperation
    benchmark: str
    dataset: str
    variant: str
    """Difference from other cells of that group and data set, e.g. "durable" or "cold"; may be empty."""
    cells: list[Cell | None]
    """The cell at each point; None where it was not run."""
    replicated: list[bool]
    """True at each point whose samples come from two processes or more."""

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """Logarithms of the values, shape (points,); NaN where there is no value."""
        return np.array([self._logarithm(cell.value if cell else None) for cell in self.cells])

    @cached_property
    def replicates(self) -> NDArray[np.float64]:
        """Logarithms of the medians of both halves of the samples, the smaller first, shape (points, 2).

        The halves are of different processes: a level that both show is not an accident of one. NaN
        where a single process measured.
        """
        return np.array(
            [
                sorted(map(self._logarithm, _medians_of_halves(cell.samples)))
                if cell and replicated and len(cell.samples) > 1
                else (np.nan, np.nan)
                for cell, replicated in zip(self.cells, self.replicated, strict=True)
            ]
        )

    def _logarithm(self, value: float | None) -> float:
        if value is None:
            return np.nan
        offset = MEMORY_OFFSET_BYTES if self.group.operation.kind is NoiseKind.MEMORY else 0
        return float(np.log(value + offset)) if value + offset > 0 else np.nan

    @property
    def name(self) -> str:
        """Data set and variant, e.g. "eq, cold"."""
        return ", ".join(filter(None, (self.dataset, self.variant)))


def _medians_of_halves(samples: Sequence[float]) -> tuple[float, float]:
    # asv records samples in the order taken, and not which round took them.
    middle = len(samples) // 2
    return statistics.median(samples[:middle]), statistics.median(samples[middle:])


def cell_series(line: HistoryLine) -> list[CellSeries]:
    """Return the series of all cells with an entry in `OPERATIONS`, in the order of the suites."""
    found: dict[tuple[str, ...], list[Cell | None]] = {}
    for number, point in enumerate(line.points):
        for cell in point.run.cells:
            key = (cell.benchmark, cell.format, cell.dataset, *cell.axes.values())
            found.setdefault(key, [None] * len(line.points))[number] = cell
    series = []
    for (benchmark, label, dataset, *axes), cells in found.items():
        module, _, method = benchmark.split(".")
        if method in OPERATIONS:
            group = FormatOperation(module, label, OPERATIONS[method])
            replicated = [benchmark in point.replicated for point in line.points]
            variant = ", ".join(filter(None, (VARIANTS.get(method), *axes)))
            series.append(CellSeries(group, benchmark, dataset, variant, cells, replicated))
    return series
