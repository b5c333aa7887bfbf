"""Widths of distinct values, in digits, bytes or items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic.ranks import bucket_sizes, by_bucket, evenly

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec

# Standard deviation of the sum of four 16-bit numbers: sqrt(4 * (2**32 - 1) / 12).
SPREAD_OF_SUM = 37_837.0


def widths(spec: ColumnSpec, distinct: int, random: RandomWords) -> np.ndarray:
    """Return the width of each value, by frequency rank, shape (distinct,), dtype int64.

    Widths approximate a normal distribution and are rounded up or down to keep the specified means.
    """
    import numpy as np

    means = by_bucket(spec.rank_widths or (spec.width,), distinct)
    if spec.width_spread > 0:
        sizes = np.array(bucket_sizes(distinct))
        # Sums of four uniform numbers are nearly normal, and need no logarithm.
        draws = random.words(distinct).view("<u2").reshape(-1, 4).sum(axis=1, dtype=np.int64)
        # Deviations are taken from the mean of the draws: the first buckets have few values, whose mean
        # width would otherwise be off by the spread.
        middles = np.add.reduceat(draws, np.cumsum(sizes) - sizes) / sizes
        means += (draws - np.repeat(middles, sizes)) * (spec.width_spread / SPREAD_OF_SUM)
    return rounded(means)


def rounded(means: np.ndarray) -> np.ndarray:
    """Return whole numbers of the same mean, also over parts of the array.

    The fraction of a mean is the share of values around it that are rounded up.
    """
    import numpy as np

    return np.floor(means + evenly(len(means))).astype(np.int64)
