"""How often each value occurs: counts by frequency rank, for each pattern.

All arithmetic is of whole numbers, or of sums, products, quotients and roots, which IEEE 754 rounds in
one way: so counts are the same on every machine, which those of `pow` and `log` are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from data_generator.spec.spec import ColumnSpec

Real = TypeVar("Real", "float", "np.ndarray")

EXPONENT_STEPS = 64


GOLDEN = 2654435769
"""2**32 / golden ratio: its multiples are spread evenly over 32 bits."""


def evenly(count: int) -> np.ndarray:
    """Return fractions in [0, 1) of which any share lies below that share, shape (count,)."""
    import numpy as np

    numbers = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    return (numbers & np.uint64(2**32 - 1)) * 2.0**-32


def distinct_count(spec: ColumnSpec, values: int) -> int:
    """Return how many distinct values a column of so many values that are not null has.

    As the ratio says, but three at least, if there are three values; unless the pattern says fewer.
    """
    few = {"constant": 1, "binary": 2}
    return min(
        values, few.get(spec.pattern, max(few["binary"] + 1, round(spec.distinct_ratio * values)))
    )


def counts(spec: ColumnSpec, values: int, distinct: int) -> np.ndarray:
    """Return how many values have each frequency rank, most frequent first.

    Parameters
    ----------
    spec : ColumnSpec
        Names the pattern.
    values : int
        Sum of the counts.
    distinct : int
        Number of ranks, from 1 to `values`; each occurs at least once.

    Returns
    -------
    numpy.ndarray
        Shape (distinct,), dtype int64, never ascending by more than rounding.
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
    """Return base ** exponent, the exponent rounded to 1/64, of roots and products alone."""
    import numpy as np

    whole, part = divmod(round(exponent * EXPONENT_STEPS), EXPONENT_STEPS)
    result = base / base
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
    """Return how many ranks are in each bucket: rank 1, 2, 3 to 4, 5 to 8, ..., up to `distinct`."""
    sizes = [1]
    while sum(sizes) < distinct:
        sizes.append(min(sum(sizes), distinct - sum(sizes)))
    return sizes


def by_bucket(values: tuple[float, ...], distinct: int) -> np.ndarray:
    """Return the value of each rank's bucket, shape (distinct,); the last holds for all that follow."""
    import numpy as np

    sizes = bucket_sizes(distinct)
    filled = (*values, *values[-1:] * len(sizes))[: len(sizes)]
    return np.repeat(np.array(filled, dtype=np.float64), sizes)


def _measured(shares: tuple[float, ...], distinct: int) -> np.ndarray:
    """Return the weight of each rank: buckets' shares in equal parts."""
    sizes = bucket_sizes(distinct)
    # Buckets that were not measured, of more distinct values than there were, go on as the last one.
    each = [share / size for share, size in zip(shares, sizes, strict=False)]
    return by_bucket(tuple(each), distinct)


def _rounded(weights: np.ndarray, values: int) -> np.ndarray:
    """Return whole numbers in proportion to the weights, each at least 1, of sum `values`.

    Where there are too few values for that, the most frequent ones keep theirs, and all from some rank
    on occur once: so a steep pattern with many distinct values keeps its head.
    """
    import numpy as np

    distinct = len(weights)
    # A running sum has one order of additions on every machine; numpy.sum need not.
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
