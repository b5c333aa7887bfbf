"""Frequencies of values: counts by frequency rank for each pattern.

Only integer arithmetic is used, and sums, products, quotients and roots: IEEE 754 defines their
rounding. Counts are therefore the same on every machine; with `pow` or `log` they would not be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from data_generator.spec.spec import ColumnSpec

Real = TypeVar("Real", "float", "np.ndarray")

# Powers of a rational exponent are exact integer roots, equal on every machine; `pow` is not.
EXPONENT_STEPS = 64

# 2**32 / golden ratio: its multiples are spread evenly over 32 bits.
GOLDEN = 2654435769


class RankedValues(NamedTuple):
    """Distinct values in ascending order, with the frequency rank of each."""

    values: Any
    """NumPy or Arrow array, shape (distinct,)."""
    ranks: np.ndarray
    """Frequency ranks, from 0, shape (distinct,), dtype int64."""


def evenly(count: int) -> np.ndarray:
    """Return evenly distributed fractions in [0, 1), shape (count,): the share x of them is below x."""
    import numpy as np

    numbers = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    return (numbers & np.uint64(2**32 - 1)) * 2.0**-32


def distinct_count(spec: ColumnSpec, values: int) -> int:
    """Return the number of distinct values in a column of `values` values that are not null.

    It follows from the ratio, but is at least three unless the column or its pattern has fewer.
    """
    few = {"constant": 1, "binary": 2}
    return min(
        values, few.get(spec.pattern, max(few["binary"] + 1, round(spec.distinct_ratio * values)))
    )


def counts(spec: ColumnSpec, values: int, distinct: int) -> np.ndarray:
    """Return the number of values of each frequency rank, most frequent first.

    Parameters
    ----------
    spec : ColumnSpec
        Specification with the pattern.
    values : int
        Sum of the counts.
    distinct : int
        Number of ranks, from 1 to `values`; each occurs at least once.

    Returns
    -------
    numpy.ndarray
        Shape (distinct,), dtype int64, descending except for rounding.
    """
    import numpy as np

    match spec.pattern:
        case "binary" | "hotspot":
            weights = np.full(distinct, (1 - spec.top_share) / max(1, distinct - 1))
            weights[0] = spec.top_share
        case "zipf":
            weights = 1 / powers(np.arange(1.0, distinct + 1), spec.exponent)
        case "measured":
            weights = _measured(spec.rank_shares, distinct)
        case _:
            weights = np.ones(distinct)
    return _rounded(weights, values)


def powers(base: Real, exponent: float) -> Real:
    """Return base ** exponent from roots and products alone, with the exponent rounded to 1/64."""
    import numpy as np

    whole, part = divmod(round(exponent * EXPONENT_STEPS), EXPONENT_STEPS)
    result = base / base  # ones of the shape of the base
    for _ in range(whole):
        result = result * base
    root = base
    while part:
        root = np.sqrt(root)
        part *= 2
        if part >= EXPONENT_STEPS:
            part -= EXPONENT_STEPS
            result = result * root
    return result


def bucket_sizes(distinct: int) -> list[int]:
    """Return the number of ranks in each bucket: rank 1, 2, 3 to 4, 5 to 8, ..., up to `distinct`."""
    sizes = [1]
    while sum(sizes) < distinct:
        sizes.append(min(sum(sizes), distinct - sum(sizes)))
    return sizes


def by_bucket(values: tuple[float, ...], distinct: int) -> np.ndarray:
    """Return the value of each rank's bucket, shape (distinct,); later ones take the last value."""
    import numpy as np

    sizes = bucket_sizes(distinct)
    filled = (*values, *values[-1:] * len(sizes))[: len(sizes)]
    return np.repeat(np.array(filled, dtype=np.float64), sizes)


def _measured(shares: tuple[float, ...], distinct: int) -> np.ndarray:
    """Return the weight of each rank: an equal part of its bucket's share."""
    sizes = bucket_sizes(distinct)
    # Longer tables have more distinct values than were measured; their buckets continue the last one.
    each = [share / size for share, size in zip(shares, sizes, strict=False)]
    return by_bucket(tuple(each), distinct)


def _rounded(weights: np.ndarray, values: int) -> np.ndarray:
    """Return whole numbers of sum `values` in proportion to the weights, each at least 1.

    If there are too few values for that, the most frequent ones keep their counts and all from some rank
    on occur once, so that a steep pattern with many distinct values keeps its head.
    """
    import numpy as np

    distinct = len(weights)
    # A running sum adds in the same order on every machine; numpy.sum adds pairwise, with SIMD.
    ideal = np.floor(weights * (values / np.cumsum(weights)[-1])).astype(np.int64).clip(1)
    spent = np.cumsum(ideal) + np.arange(distinct - 1, -1, -1)
    head = int(np.searchsorted(spent, values, side="right"))
    ideal[head:] = 1
    left = values - int(ideal.sum())
    if head < distinct:
        ideal[head] += left
    else:
        ideal[:left] += 1
    return ideal
