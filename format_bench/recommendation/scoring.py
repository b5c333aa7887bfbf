"""How much each measure counts, as a user says it.

Between which values a cell would lie if it were measured again.

The score of a candidate: by what factor it is worse than the best of everything, on the whole.

For each cell the factor is (c + x) / (c + best), as ClickBench has it for its queries, with c = 10 ms
(https://github.com/ClickHouse/ClickBench, "relative time"): near zero it is the difference that counts
and not the ratio, and a value of zero does no harm. Factors are combined by geometric means, over
tables and then, weighted, over measures. There the best cancels out, so the order of two candidates
does not depend on which others there are.

Which candidates no other one beats in everything.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from adapter_core.errors import InvalidWeightError
from format_bench.results.metrics import METRICS, Measure

if TYPE_CHECKING:
    from format_bench.results.candidates import Candidate, DatasetSize
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


Weights = dict[Measure, float]
"""Only their proportions matter."""


def parsed(texts: Iterable[str]) -> Weights:
    """Return the weights that are written as "read_time=3".

    Raises
    ------
    InvalidWeightError
        If one is not written so, is no number from 0 on, or is said twice.
    UnknownNameError
        If there is no such metric.
    """
    weights: Weights = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not equals:
            raise InvalidWeightError(
                f"--weight {text}: a metric and its weight are wanted, as in read_time=3"
            )
        measure = Measure.named(name.strip())
        if measure in weights:
            raise InvalidWeightError(
                f"--weight {text}: {measure.phrase} has a weight already, {weights[measure]:g}"
            )
        weights[measure] = _number(number, text)
    return weights


def checked(weights: Weights) -> Weights:
    """Return the weights that count, which are those above 0.

    Raises
    ------
    InvalidWeightError
        If one is no finite number from 0 on, or none counts.
    """
    for measure, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidWeightError(
                f"the weight of {measure.phrase} is {weight:g}; it must be a number from 0 on"
            )
    counting = {measure.comparable: weight for measure, weight in weights.items() if weight > 0}
    if not counting:
        raise InvalidWeightError("no metric has a weight above 0, so there is nothing to choose by")
    return counting


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise InvalidWeightError(
            f"--weight {option}: {text.strip() or 'nothing'} is not a number from 0 on"
        )
    return number


def band_of(record: Record, floors: Floors | None) -> tuple[float, float]:
    """Return the lower and the upper end of what noise allows for a cell with a value.

    If the noise floors of the machine are known, the bands of two values touch exactly where their
    difference is the floor; else the band is the interval of the median, or nothing but the value.
    """
    value = record.value or 0.0
    if floors:
        half = math.sqrt(1 + floors.floor_for(record.metric))
        return value / half, value * half
    low, high = record.interval or (value, value)
    return low, high


def places(band: tuple[float, float], bands: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Return the best and the worst place that a band allows among all, itself included."""
    before = sum(high < band[0] for _, high in bands)
    behind = sum(low > band[1] for low, _ in bands)
    return 1 + before, len(bands) - behind


def source(records: Iterable[Record], floors: Floors | None) -> str:
    """Return what is known of noise: "floors", "intervals", or "unknown" where times stand alone."""
    if floors:
        return "floors"
    timed = [each for each in records if each.unit == "seconds"]
    return "unknown" if any(each.interval is None for each in timed) else "intervals"


def shift_of(measure: Measure) -> float:
    """Return c, in the unit of the measure."""
    return METRICS[measure.metric].shift


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
    tables: dict[Measure, list[DatasetSize]]
    """Those on which anything was found of a measure."""
    best: dict[Measure, list[float]]
    """The smallest value of each measure on each of its tables."""

    @classmethod
    def of(
        cls, candidates: list[Candidate], weights: Weights, tables: dict[Measure, list[DatasetSize]]
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


def _values(
    candidate: Candidate, measure: Measure, tables: dict[Measure, list[DatasetSize]]
) -> list[float]:
    """Return the values of a candidate that has all of them."""
    found = (candidate.value(table, measure) for table in tables[measure])
    return [value for value in found if value is not None]


K = TypeVar("K", bound=Hashable)


def on_front(candidates: Sequence[Mapping[K, float]]) -> list[bool]:
    """Return for each candidate whether it is on the Pareto front.

    One is not if another is at most as large in every measure and smaller in one.

    Parameters
    ----------
    candidates : sequence of mapping
        Of each candidate a number for each measure; smaller is better.
    """
    return [not any(_dominates(other, each) for other in candidates) for each in candidates]


def _dominates(one: Mapping[K, float], other: Mapping[K, float]) -> bool:
    differences = [one[measure] - value for measure, value in other.items()]
    return max(differences) <= 0 and min(differences) < 0
