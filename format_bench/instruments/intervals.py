"""Confidence intervals of medians, free of a distribution, and of binomial shares.

Times are skewed and have several humps, so neither a mean nor its standard error describes them
(Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015, rules 5 and 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

# The usual level, at which one cell of twenty lies outside by chance.
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


def share_interval(count: int, trials: int) -> tuple[float, float]:
    """Return the Wilson score interval of a binomial share, with 95 % confidence.

    It covers the true share well for few trials too, and for counts of 0 (E. B. Wilson, "Probable
    inference, the law of succession, and statistical inference", JASA 22, 1927; Brown, Cai and DasGupta,
    "Interval estimation for a binomial proportion", Statistical Science 16, 2001, who recommend it).

    Raises
    ------
    ValueError
        Without trials, or if the count is none of 0 to their number.
    """
    if not 0 <= count <= trials or trials == 0:
        raise ValueError(f"{count} of {trials} trials is no share")
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = count / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # Without rounding, the bounds are exactly 0 and 1 at the ends.
    low = 0.0 if count == 0 else centre - half
    high = 1.0 if count == trials else centre + half
    return low, high
