"""Order of a column's values: runs, clustering, sortedness within windows, and repeated windows.

Values are represented by their codes: their numbers by size, from 0. A column is cut into units, runs of
equal values; units are shuffled, more or less close to sorted order (clustering); in each window, some
units are sorted (sortedness); finally windows are repeated.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic import runs
from data_generator.spec.spec import WINDOW, ColumnSpec

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords


# Clustering that random order may have as well.
LEAST_CLUSTERING = 0.02

# Twice the share of a window's values that sorting merges to runs, if the window may be that small.
MERGED = 0.2

# Fewest units that are sorted together: of two neighbours one is the larger in any case.
SMALLEST_WINDOW = 3

# Iterations of the planning: run lengths, window sizes and merging by sorting depend on each other.
ROUNDS = 3

# Number of preceding different windows that a repeated one is chosen from: near enough for compressors
# with a small window.
REPEATED_FROM = 4


def noise_range(clustering: float) -> float:
    """Return the width of noise such that sorting by place + noise gives a clustering.

    The unit is the number of all places. With uniform places and noise of width t, the place at a given
    sum is uniform over a range whose mean is t - t**2 / 3, or 1 - 1 / (3 t) for t > 1; clustering is 1
    less that.
    """
    if clustering < 1 / 3:
        return 1 / (3 * clustering)
    return (3 - sqrt(9 - 12 * (1 - clustering))) / 2


def band(clustering: float) -> float:
    """Return the share of all places that contains a value and its neighbours."""
    return min(1.0, noise_range(clustering)) if clustering >= LEAST_CLUSTERING else 1.0


def equal_by_chance(counts: np.ndarray, clustering: float) -> float:
    """Return the share of neighbours that are equal by chance, because their value is frequent there.

    Without clustering it is the sum of the squared shares of all values.
    """
    import numpy as np

    values = int(counts.sum())
    there = max(1, round(band(clustering) * values))
    # Sums of whole numbers do not depend on the order of additions, which NumPy may choose.
    return int((counts * np.minimum(counts, there)).sum()) / (there * values)


def distinct_share(counts: np.ndarray, drawn: int, clustering: float) -> float:
    """Return the expected share of distinct values among `drawn` ones from the same place."""
    import numpy as np

    if drawn < 1:
        return 1.0
    there = max(1.0, band(clustering) * int(counts.sum()))
    absent = np.ones(len(counts))
    power = 1 - np.minimum(1.0, counts / there)
    # absent = power ** drawn, by squaring: the power function differs between machines.
    left = drawn
    while left:
        if left & 1:
            absent *= power
        power = power * power
        left >>= 1
    found = float(np.cumsum(1 - absent)[-1]) * band(clustering)
    return min(1.0, max(found, 1.0) / drawn)


class OrderPlan(NamedTuple):
    """Parameters of the steps that put values in order."""

    run_length: float
    """Mean length of runs before any sorting."""
    window: int
    """Number of units in a window."""
    sorted_units: int
    """Number of units in a window that are sorted; the others keep their places."""


def plan_order(spec: ColumnSpec, counts: np.ndarray) -> OrderPlan:
    """Return the plan for values with the given numbers of occurrences, shape (distinct,)."""
    chance = equal_by_chance(counts, spec.clustering)
    equal = max(chance, 1 - 1 / spec.mean_run_length)
    if spec.sortedness <= equal:
        return OrderPlan(spec.mean_run_length * (1 - chance), 0, 0)
    # Each break between windows costs 2 / size of sortedness.
    needed = 2 * (1 - equal) / (1 - spec.sortedness + 1e-9)
    length = 1.0
    for _ in range(ROUNDS):
        # Few distinct values would merge to long runs: the window is smaller, as far as breaks allow.
        size = max(SMALLEST_WINDOW, round(min(WINDOW / length, max(MERGED / (chance + 1e-9), needed))))
        in_order = (spec.sortedness - equal) / (1 - equal) / (1 - 2 / size)
        # If a share q of a window is sorted, q**2 of neighbours are in order, and half of the others.
        chosen = round(sqrt(min(1.0, in_order)) * size)
        merged = chosen / size * (1 - distinct_share(counts, chosen, spec.clustering))
        length = max(1.0, spec.mean_run_length * (1 - max(merged, chance)))
    return OrderPlan(length, size, chosen)


def arrange(spec: ColumnSpec, counts: np.ndarray, random: RandomWords) -> np.ndarray:
    """Return codes, each as often as its count, in an order with the specified properties.

    Parameters
    ----------
    spec : ColumnSpec
        Specification with run lengths, clustering and sortedness.
    counts : numpy.ndarray
        Number of occurrences of each code, shape (distinct,), dtype int64.
    random : RandomWords
        Source of all choices that the specification leaves open.

    Returns
    -------
    numpy.ndarray
        Shape (sum of counts,), dtype int64.
    """
    import numpy as np

    plan = plan_order(spec, counts)
    longest = spec.longest_run or 0.0
    units = runs.units(counts, plan.run_length, longest, random)
    order = _shuffled(units.codes, counts, spec.clustering, random)
    codes = units.codes[order]
    if units.lengths is None:
        return _window_sorted(codes, plan, random)
    # Code and length are packed in one number: sorting by code takes the lengths along.
    length_bits = int(units.lengths.max()).bit_length()
    pairs = _window_sorted((codes << length_bits) | units.lengths[order], plan, random)
    return np.repeat(pairs >> length_bits, pairs & (2**length_bits - 1))


def repeat_windows(codes: np.ndarray, rows: int, random: RandomWords) -> np.ndarray:
    """Return `rows` codes: the given ones, with windows of them repeated a little later.

    Parameters
    ----------
    codes : numpy.ndarray
        Shape (fresh,), at least one window, and shorter than `rows` by a number of whole windows.
    rows : int
        Length of the result.
    random : RandomWords
        Source of the places of the repetitions.
    """
    import numpy as np

    again = (rows - len(codes)) // WINDOW
    if not again:
        return codes
    fresh = len(codes) // WINDOW
    is_again = np.zeros(fresh + again, dtype=bool)
    # The first window cannot repeat any.
    is_again[1 + _chosen(again, fresh + again - 1, random)] = True
    newest = np.cumsum(~is_again) - 1
    back = random.integers(REPEATED_FROM, len(newest)).astype(np.int64)
    source = np.where(is_again, np.maximum(newest - back, 0), newest)
    whole = codes[: fresh * WINDOW].reshape(fresh, WINDOW)[source].ravel()
    return np.concatenate([whole, codes[fresh * WINDOW :]])


def _chosen(count: int, most: int, random: RandomWords) -> np.ndarray:
    """Return `count` different numbers below `most`, in random order."""
    import numpy as np

    return np.argsort(random.words(most), kind="stable")[:count]


def _shuffled(
    codes: np.ndarray, counts: np.ndarray, clustering: float, random: RandomWords
) -> np.ndarray:
    """Return a random permutation of units, close to sorted order as far as `clustering` requires."""
    import numpy as np

    index_bits = max(1, (len(codes) - 1).bit_length())
    key = random.words(len(codes)) >> np.uint64(index_bits)
    if clustering >= LEAST_CLUSTERING:
        middles = np.cumsum(counts) - counts / 2
        places = middles * (2.0**32 / int(counts.sum()))
        noise = (key >> np.uint64(32 - index_bits)) * noise_range(clustering)
        key = (places[codes] + noise).astype(np.uint64)
    # The index in the low bits makes keys unique, so that all sorting algorithms give the same order.
    key = (key << np.uint64(index_bits)) | np.arange(len(codes), dtype=np.uint64)
    key.sort()
    return (key & np.uint64(2**index_bits - 1)).astype(np.int64)


def _window_sorted(units: np.ndarray, plan: OrderPlan, random: RandomWords) -> np.ndarray:
    """Sort the planned number of units of each full window, at the same places in all windows."""
    import numpy as np

    if not plan.sorted_units or len(units) < plan.window:
        return units
    chosen = np.sort(_chosen(plan.sorted_units, plan.window, random))
    windows = units[: len(units) // plan.window * plan.window].reshape(-1, plan.window)
    windows[:, chosen] = np.sort(windows[:, chosen], axis=1)
    return units
