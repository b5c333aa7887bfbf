"""How wide each distinct value is, in digits, bytes or items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic.ranks import bucket_sizes, by_bucket, evenly

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec

SPREAD_OF_SUM = 37_837.0
"""Standard deviation of the sum of four 16-bit numbers: sqrt(4 * (2**32 - 1) / 12)."""


def widths(spec: ColumnSpec, distinct: int, random: RandomWords) -> np.ndarray:
    """Return the width of each value, by frequency rank, shape (distinct,), dtype int64.

    Widths are near a normal distribution (sums of four draws, which need no logarithm), and are rounded
    up or down so that means are as stated.
    """
    import numpy as np

    means = by_bucket(spec.rank_widths or (spec.width,), distinct)
    if spec.width_spread > 0:
        sizes = np.array(bucket_sizes(distinct))
        draws = random.words(distinct).view("<u2").reshape(-1, 4).sum(axis=1, dtype=np.int64)
        # Around the mean that came out, so that the few most frequent values have theirs.
        middles = np.add.reduceat(draws, np.cumsum(sizes) - sizes) / sizes
        means += (draws - np.repeat(middles, sizes)) * (spec.width_spread / SPREAD_OF_SUM)
    return rounded(means)


def rounded(means: np.ndarray) -> np.ndarray:
    """Return whole numbers of the same mean, also over parts: fractions tell how many are rounded up."""
    import numpy as np

    return np.floor(means + evenly(len(means))).astype(np.int64)
