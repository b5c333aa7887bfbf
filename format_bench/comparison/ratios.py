"""Ratios of medians with intervals, and their significance.

Each median lies in an interval of order statistics (`instruments.intervals`; Le Boudec 2010). The
samples of two results are independent, so both medians lie in theirs with the product of the
confidences, and their ratio then between (lower end of B) / (upper end of A) and the opposite. That
assumes no distribution and no equal variance; it is wider than need be.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from format_bench.instruments.intervals import Interval, median_interval
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.comparison.pairs import Pair
    from format_bench.results.records import Record


class Significance(StrEnum):
    """Significance of a difference."""

    REAL = "real"
    """The interval excludes 1, and the difference is beyond the noise floors that are known."""
    NOISE = "noise"
    UNCLEAR = "unclear"
    """At least one of the values is a single sample of an inexact metric."""


@dataclass(frozen=True)
class Ratio:
    """B / A of one pair."""

    pair: Pair
    value: float | None
    """None if A is 0 and B is not; 1 if both are."""
    low: float | None
    high: float | None
    """Ends of the interval; None if a value is a single sample, or an end is not finite."""
    confidence: float | None
    """Lower bound of the interval's confidence."""
    significance: Significance
    relative: bool
    """Whether both values were first divided by the geometric mean of the common formats."""


def ratio_of(pair: Pair, means: tuple[float, float] | None, floor: float) -> Ratio:
    """Return the ratio of a pair.

    Parameters
    ----------
    pair : Pair
        Two cells with values.
    means : tuple of float, optional
        Divisors of A and B, where their data sets differ in size; taken for known.
    floor : float
        Noise floor: the relative difference of two measurements of the same thing.
    """
    mean_a, mean_b = means or (1.0, 1.0)
    a, b = (pair.a.value or 0.0) / mean_a, (pair.b.value or 0.0) / mean_b
    one, other = interval_of(pair.a), interval_of(pair.b)
    value = _divided(b, a)
    if one is None or other is None:
        return Ratio(pair, value, None, None, None, Significance.UNCLEAR, relative=bool(means))
    low_a, high_a = one.low / mean_a, one.high / mean_a
    low_b, high_b = other.low / mean_b, other.high / mean_b
    apart = low_b > high_a or low_a > high_b
    beyond_floor = max(a, b) > min(a, b) * (1 + floor)
    return Ratio(
        pair,
        value,
        _divided(low_b, high_a),
        _divided(high_b, low_a),
        one.confidence * other.confidence,
        Significance.REAL if apart and beyond_floor else Significance.NOISE,
        relative=bool(means),
    )


def interval_of(record: Record) -> Interval | None:
    """Return the interval of a cell's median; None for a single sample of an inexact metric."""
    if len(record.repeats) > 1:
        return median_interval(record.repeats)
    if record.interval:
        # A published size is somewhere in the range that rounds to it.
        low, high = record.interval
        return Interval(low, high, confidence=1.0)
    if Measure.of(record).is_exact:
        value = record.value or 0.0
        return Interval(value, value, confidence=1.0)
    return None


def _divided(b: float, a: float) -> float | None:
    if a:
        return b / a
    return None if b else 1.0
