"""Series of each cell over the points of a line, grouped by format and operation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from format_bench.results.metrics import BY_BENCHMARK, Noise
from format_bench.results.suites import qualified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.asv_support.results import AsvCell
    from format_bench.changes.history import HistoryLine


@dataclass(frozen=True)
class Operation:
    """Quantity that one or several benchmarks of a suite measure, under the name that readers see."""

    name: str
    kind: Noise

    @property
    def least_effect(self) -> float:
        """The smallest change that is of interest, as a share of the value."""
        return LEAST_EFFECTS[self.kind]


TIMES = (Noise.WALL_TIME, Noise.CPU_TIME)

# Metrics without an operation are left out, e.g. the peak of a whole process: the growth during the call
# shows the same more clearly.
# Operations by the methods of the suites; other methods are not searched for changes.
OPERATIONS = {
    method: Operation(metric.operation, metric.noise)
    for method, metric in BY_BENCHMARK.items()
    if metric.operation
}

# Shares below which nobody would act on a change. Whether a larger one is noise, the points of the
# history and their processes decide (`format_bench.changes.detection`).
LEAST_EFFECTS = {
    Noise.WALL_TIME: 0.05,
    Noise.CPU_TIME: 0.05,
    Noise.MEMORY: 0.03,
    Noise.SIZE: 0.005,
    Noise.EXACT: 0.0,
}

# Added to growths of memory: below a MiB they are a few pages more or less.
MEMORY_OFFSET_BYTES = 2**20


class FormatOperation(NamedTuple):
    """An operation of a format in a suite: the cells that one sentence is about."""

    module: str
    """Module of the suite, e.g. "tabular"."""
    format: str
    operation: Operation

    def __str__(self) -> str:
        return f"{qualified(self.format, self.module)} {self.operation.name}"


@dataclass(frozen=True)
class CellSeries:
    """One cell over all points of a line."""

    group: FormatOperation
    benchmark: str
    dataset: str
    variant: str
    """Difference from other cells of that group and data set, e.g. "durable" or "cold"; may be empty."""
    cells: list[AsvCell | None]
    """The cell at each point; None where it was not run."""
    replicated: list[bool]
    """True at each point whose samples come from two processes or more."""

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """Logarithms of the values, shape (points,); NaN where a value is missing."""
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
        offset = MEMORY_OFFSET_BYTES if self.group.operation.kind is Noise.MEMORY else 0
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
    found: dict[tuple[str, ...], list[AsvCell | None]] = {}
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
            track = next(cell.track for cell in cells if cell)
            variant = ", ".join(filter(None, (BY_BENCHMARK[method].variant, track, *axes)))
            series.append(CellSeries(group, benchmark, dataset, variant, cells, replicated))
    return series
