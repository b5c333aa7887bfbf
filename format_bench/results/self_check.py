"""Self-check of results: orderings that physics demands, and the noise of each time.

A durable save contains the plain one, a cold read does all that a warm one does, and a peak is at
least the memory held afterwards. Where medians are in another order, they differ by less than noise, so
the pairs out of order show how far times can be trusted. The noise itself is known from the rounds of
each cell (`format_bench.results.noise`), without a measurement of its own.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from format_bench.results.candidates import Configuration
from format_bench.results.display.text import plural
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise, is_wall_time
from format_bench.results.records import Record

# Share of pairs out of order above which results are noise, whatever their intervals.
TRUSTED_SHARE = 0.02

# Quantile of the cells' noise that is reported for a run.
QUANTILE = 0.95


@dataclass(frozen=True)
class OrderedPair:
    """Two values of one configuration on one data set; the second cannot be the smaller."""

    lower: Record
    upper: Record
    noise: float = 0.0
    """Relative difference that noise explains, as a share of the upper value; 0 if it is not known."""

    @property
    def gap(self) -> float:
        """Share of the lower value that the upper one lacks; 0 if they are in order."""
        low, high = self.lower.value or 0.0, self.upper.value or 0.0
        return max(0.0, 1 - high / low) if low > 0 else 0.0

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the values are out of order by more than noise explains."""
        low, high = self.lower.value or 0.0, self.upper.value or 0.0
        return low > high * (1 + self.noise)

    def __str__(self) -> str:
        """Return the pair in words."""
        what = f"{self.lower.format} on {self.lower.dataset}"
        lower, upper = Measure.of(self.lower), Measure.of(self.upper)
        return f"{what}: {upper.phrase} {self.gap:.0%} below {lower.phrase}"


@dataclass(frozen=True)
class SelfCheck:
    """Orderings and noise of some results."""

    pairs: tuple[OrderedPair, ...]
    """All pairs with two values."""
    noise: tuple[float, ...]
    """Noise of each timed cell whose noise is known; see `RunNoise`."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> SelfCheck:
        """Return the self-check of records."""
        valued = [each for each in records if each.value is not None]
        noise = RunNoise(valued)
        found = [noise.of_cell(each) for each in valued if is_wall_time(each)]
        return cls(tuple(_pairs(valued, noise)), tuple(each for each in found if each is not None))

    @property
    def out_of_order(self) -> list[OrderedPair]:
        """Pairs in the wrong order, the widest gap first."""
        return sorted((each for each in self.pairs if each.gap), key=lambda each: -each.gap)

    @property
    def share(self) -> float:
        """Share of pairs out of order."""
        return len(self.out_of_order) / len(self.pairs) if self.pairs else 0.0

    @property
    def noise_quantile(self) -> float | None:
        """Noise that 95 % of the timed cells do not exceed; None without such cells."""
        if not self.noise:
            return None
        return sorted(self.noise)[math.ceil(QUANTILE * len(self.noise)) - 1]

    def __str__(self) -> str:
        """Return the outcome in sentences; empty if nothing could be checked."""
        return " ".join(filter(None, (self._orderings(), self._noise())))

    def _orderings(self) -> str:
        wrong, pairs = self.out_of_order, len(self.pairs)
        if not pairs:
            return ""
        if not wrong:
            return (
                f"Self-check: {plural(pairs, 'pair')} of values, all in the order that they must have."
            )
        verb = "is" if len(wrong) == 1 else "are"
        beyond = f"{sum(each.is_beyond_noise for each in wrong):,} by more than their noise, "
        text = (
            f"Self-check: {len(wrong):,} of {pairs:,} pairs {verb} out of order, "
            f"{beyond if self.noise else ''}the widest by {wrong[0].gap:.0%} ({wrong[0]})"
        )
        if self.share > TRUSTED_SHARE:
            return f"{text}: these times are noise below {wrong[0].gap:.0%}."
        return f"{text}."

    def _noise(self) -> str:
        if self.noise_quantile is None:
            return ""
        return (
            f"Noise, the difference from another run that the rounds of a time explain, is "
            f"{statistics.median(self.noise):.0%} in the median cell, and at most "
            f"{self.noise_quantile:.0%} in {QUANTILE:.0%} of {len(self.noise):,} cells."
        )


def _pairs(records: list[Record], noise: RunNoise) -> Iterator[OrderedPair]:
    """Yield the pairs of values that must be in order."""
    cells = {(_configuration(each), Measure.of(each)): each for each in records}
    for (configuration, measure), record in cells.items():
        contained = METRICS[measure.metric].at_least
        if contained:
            same = cells.get((configuration, measure._replace(metric=contained)))
            lower = same or cells.get((configuration, Measure(contained, query=measure.query)))
        elif measure.cache == "cold" and is_wall_time(record):
            lower = cells.get((configuration, measure._replace(cache="warm")))
        else:
            lower = None
        if lower:
            of_both = [math.log1p(noise.of_cell(each) or 0.0) for each in (lower, record)]
            # Each belongs to a difference from an equal value, so to two variances alike.
            yield OrderedPair(lower, record, math.expm1(math.hypot(*of_both) / math.sqrt(2)))


def _configuration(record: Record) -> tuple[object, ...]:
    """Return the coordinates of a record without its measure."""
    return record.suite.partition(".")[0], record.place, record.rows, Configuration.of(record)
