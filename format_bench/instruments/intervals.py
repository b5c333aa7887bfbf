"""Distribution-free confidence intervals of medians.

Times are skewed and have several humps, so neither a mean nor its standard error describes them
(Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015, rules 5 and 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """Confidence interval of a median."""

    low: float
    high: float
    confidence: float
    """Probability that such an interval covers the true median; below 0.95 for fewer than 6 samples."""


def median_interval(samples: Sequence[float]) -> Interval:
    """Return the narrowest symmetric pair of order statistics that covers the median with 95 %.

    A sample lies below the median with probability 1/2, so the number of samples below it is binomial
    (Le Boudec, "Performance Evaluation of Computer and Communication Systems", 2010, theorem 2.1).
    With too few samples the interval is the whole range, with the confidence of that.

    Raises
    ------
    ValueError
        If `samples` is empty.
    """
    if not samples:
        raise ValueError("an interval needs at least one sample")
    ordered, count = sorted(samples), len(samples)
    found = Interval(ordered[0], ordered[-1], 0.0)
    # Integers, since 2**count leaves the range of floats. scipy.stats.quantile_test has such an interval
    # too, but a run needs nothing else of scipy.
    ways = outside = 1
    for rank in range((count + 1) // 2):
        coverage = max(0.0, 1 - 2 * outside / 2**count)
        if rank and coverage < CONFIDENCE:
            break
        found = Interval(ordered[rank], ordered[-1 - rank], coverage)
        # The binomial coefficient of the next rank, and the sum of all coefficients up to it.
        ways = ways * (count - rank) // (rank + 1)
        outside += ways
    return found
