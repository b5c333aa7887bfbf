"""The score of a candidate: by what factor it is worse than the best of everything, on the whole.

For each cell the factor is (c + x) / (c + best), as ClickBench has it for its queries, with c = 10 ms
(https://github.com/ClickHouse/ClickBench, "relative time"): near zero it is the difference that counts
and not the ratio, and a value of zero does no harm. Factors are combined by geometric means, over
tables and then, weighted, over measures. There the best cancels out, so the order of two candidates
does not depend on which others there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from format_bench.recommendation.noise import band_of

if TYPE_CHECKING:
    from format_bench.recommendation.weights import Weights
    from format_bench.results.candidates import Candidate, Table
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors

SHIFTS = {"seconds": 0.01, "bytes": 4096, "columns": 1, "files": 1, "images": 1, "ratio": 1}
"""c by unit. Nobody notices 10 ms; file systems and the kernel give out space by pages of 4,096 bytes;
and one thing more than none shall count as twice as much, not infinitely more."""

MEMORY_SHIFT = 2**20
"""c of memory: CPython takes it from the system in arenas of 1 MiB (Objects/obmalloc.c, ARENA_SIZE)."""

PER_IMAGE_SHIFT = 1e-5
"""c of seconds per image: 10 ms for a thousand."""


def shift_of(measure: Measure) -> float:
    """Return c, in the unit of the measure."""
    if measure.metric.endswith("per image"):
        return PER_IMAGE_SHIFT
    if measure.metric.endswith("memory"):
        return MEMORY_SHIFT
    return SHIFTS[measure.unit]


def log_factor(values: list[float], best: list[float], shift: float) -> float:
    """Return the logarithm of the geometric mean of (c + x) / (c + best) over tables."""
    return fmean(
        math.log((shift + value) / (shift + least)) for value, least in zip(values, best, strict=True)
    )


def weighted(logs: dict[Measure, float], weights: Weights) -> float:
    """Return the weighted geometric mean of factors, given as logarithms by measure."""
    total = sum(weights.values())
    return math.exp(sum(weight * logs[measure] for measure, weight in weights.items()) / total)


@dataclass(frozen=True)
class Scoring:
    """What scores of some candidates are relative to."""

    weights: Weights
    tables: dict[Measure, list[Table]]
    """Those on which anything was found of a measure."""
    best: dict[Measure, list[float]]
    """The smallest value of each measure on each of its tables."""

    @classmethod
    def of(
        cls, candidates: list[Candidate], weights: Weights, tables: dict[Measure, list[Table]]
    ) -> Scoring:
        """Return the scoring for candidates that have a value in every cell."""
        best = {}
        for measure in tables:
            columns = zip(*(_values(each, measure, tables) for each in candidates), strict=True)
            best[measure] = [min(values) for values in columns]
        return cls(weights, tables, best)

    def logs(self, candidate: Candidate) -> dict[Measure, float]:
        """Return the logarithm of the candidate's factor for each measure."""
        return {
            measure: log_factor(_values(candidate, measure, self.tables), best, shift_of(measure))
            for measure, best in self.best.items()
        }

    def score(self, candidate: Candidate) -> float:
        """Return the factor on the whole: 1 if the candidate is the best of everything."""
        return weighted(self.logs(candidate), self.weights)

    def band(self, candidate: Candidate, floors: Floors | None) -> tuple[float, float]:
        """Return the scores with all values at the lower, and at the upper end of what noise allows."""
        ends = []
        for end in (0, 1):
            logs = {
                measure: log_factor(
                    [band_of(candidate.cells[table, measure], floors)[end] for table in tables],
                    self.best[measure],
                    shift_of(measure),
                )
                for measure, tables in self.tables.items()
            }
            ends.append(weighted(logs, self.weights))
        return ends[0], ends[1]

    def ratios(self, candidate: Candidate) -> dict[Measure, float | None]:
        """Return the plain ratio to the best, the geometric mean over tables; None if the best is 0."""
        found: dict[Measure, float | None] = {}
        for measure, best in self.best.items():
            pairs = list(zip(_values(candidate, measure, self.tables), best, strict=True))
            if any(least == 0 < value for value, least in pairs):
                found[measure] = None
            else:
                found[measure] = math.exp(fmean(math.log(v / b) if b else 0.0 for v, b in pairs))
        return found


def _values(candidate: Candidate, measure: Measure, tables: dict[Measure, list[Table]]) -> list[float]:
    """Return the values of a candidate that has all of them."""
    found = (candidate.value(table, measure) for table in tables[measure])
    return [value for value in found if value is not None]
