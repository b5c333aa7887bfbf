"""Statistics of the frequencies of values: pattern, Zipf exponent and shares of ranks.

All functions take counts of distinct values, shape (distinct,), dtype int64, in descending order.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from data_generator.realistic.ranks import bucket_sizes

if TYPE_CHECKING:
    import numpy as np


# Number of ranks to which the exponent is fitted; the shares of others are too small to matter.
HEAD = 1_000

# The study's bounds of its patterns, in the order that `pattern` applies them.
UNIFORM_BELOW = 0.01
HOTSPOT_FACTOR = 9
STEEPEST = 4.0
PRECISION = 1e-4


def exponent(counts: np.ndarray) -> float:
    """Return the Zipf exponent s from 0 to 4 with the best fit of shares k**-s / sum(n**-s).

    The fit is by least squares. The study fits the same function to the same shares with
    `scipy.optimize.curve_fit`.
    """
    import numpy as np

    distinct = len(counts)
    shares = counts[:HEAD] / counts.sum()
    logs = np.log(np.arange(1, len(shares) + 1))

    def error(s: float) -> float:
        fitted = np.exp(-s * logs)
        fitted /= fitted.sum() + _tail(len(shares), distinct, s)
        return float(((shares - fitted) ** 2).sum())

    low, high = 0.0, STEEPEST
    # Ternary search: the error has one minimum.
    while high - low > PRECISION:
        third = (high - low) / 3
        if error(low + third) < error(high - third):
            high -= third
        else:
            low += third
    return (low + high) / 2


def pattern(counts: np.ndarray) -> str:
    """Return the study's name of the pattern of frequencies.

    ``null``: no values; ``single`` and ``binary``: one and two distinct values; ``uniform``: an exponent
    below 0.01; ``hotspot``: the first value more than nine times as frequent as the third, which under a
    Zipf distribution means an exponent above 2; ``gentle_zipf``: all others.
    """
    few = ("null", "single", "binary")
    if len(counts) < len(few):
        return few[len(counts)]
    if counts[0] > HOTSPOT_FACTOR * counts[2]:
        return "hotspot"
    return "uniform" if exponent(counts) < UNIFORM_BELOW else "gentle_zipf"


def rank_shares(counts: np.ndarray) -> list[float]:
    """Return the shares of the values of frequency rank 1, 2, 3 to 4, 5 to 8, ..."""
    import numpy as np

    sizes = bucket_sizes(len(counts))
    return (np.add.reduceat(counts, np.cumsum([0, *sizes[:-1]])) / counts.sum()).tolist()


def _tail(head: int, distinct: int, s: float) -> float:
    """Return the sum of n**-s for n from head + 1 to distinct, by the midpoint rule."""
    low, high = head + 0.5, distinct + 0.5
    if high <= low:
        return 0.0
    if s == 1:
        return log(high / low)
    return float((high ** (1 - s) - low ** (1 - s)) / (1 - s))
