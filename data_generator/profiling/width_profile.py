"""Description of the widths of distinct values by frequency rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data_generator.realistic.ranks import bucket_sizes
from data_generator.spec.spec import significant

if TYPE_CHECKING:
    import numpy as np


def profile_widths(widths: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties `width`, `width_spread` and `rank_widths` of distinct values.

    Parameters
    ----------
    widths : numpy.ndarray
        Width of each value, shape (distinct,).
    counts : numpy.ndarray
        Number of occurrences of each value, shape (distinct,).
    """
    import numpy as np

    if not len(widths):
        return {"width": 0.0, "width_spread": 0.0}
    by_rank = widths[np.argsort(-counts, kind="stable")].astype(np.float64)
    if counts.min() == counts.max():
        means, sizes = np.array([by_rank.mean()]), np.array([len(by_rank)])
    else:
        means, sizes = bucket_means(by_rank)
    # The generator adds the spread between rank buckets, and that of rounding their means to whole
    # widths.
    inside = by_rank - np.repeat(means, sizes)
    part = np.repeat(means - np.floor(means), sizes)
    variance = float((inside * inside - part * (1 - part)).mean())
    found: dict[str, Any] = {
        "width": significant(float(by_rank.mean())),
        "width_spread": significant(max(0.0, round(variance, 6)) ** 0.5),
    }
    if len(means) > 1:
        found["rank_widths"] = tuple(significant(mean) for mean in means.tolist())
    return found


def bucket_means(by_rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over buckets of ranks, and the buckets' sizes, both of shape (buckets,)."""
    import numpy as np

    sizes = np.array(bucket_sizes(len(by_rank)))
    return np.add.reduceat(by_rank, np.cumsum(sizes) - sizes) / sizes, sizes
