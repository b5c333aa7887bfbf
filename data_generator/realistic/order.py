"""The order of values: runs, place in the table, order within windows, and windows that come again.

Values are numbered by size, from 0; these numbers are their codes.

How values come to their places in a table, and what they meet there.

What to do to values so that lengths of runs and sortedness come out as stated.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic import runs
from data_generator.spec.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec


LEAST = 0.02
"""Less clustering than this is what random order has too."""


def noise_range(clustering: float) -> float:
    """Return how wide noise is, in units of all places, so that sorting place + noise clusters so.

    With uniform places and noise of width t, the place at a given sum is uniform over a range whose mean
    is t - t**2 / 3, or 1 - 1 / (3 t) for t > 1; clustering is 1 less that.
    """
    if clustering < 1 / 3:
        return 1 / (3 * clustering)
    return (3 - sqrt(9 - 12 * (1 - clustering))) / 2


def band(clustering: float) -> float:
    """Return the share of all places that a value and its neighbours come from."""
    return min(1.0, noise_range(clustering)) if clustering >= LEAST else 1.0


def together_by_chance(counts: np.ndarray, clustering: float) -> float:
    """Return the share of neighbours that are equal because they are frequent there, and only for that.

    Without clustering that is the sum of squared shares.
    """
    import numpy as np

    values = int(counts.sum())
    there = max(1, round(band(clustering) * values))
    # In whole numbers, so that the order of additions does not matter.
    return int((counts * np.minimum(counts, there)).sum()) / (there * values)


def distinct_share(counts: np.ndarray, drawn: int, clustering: float) -> float:
    """Return the expected share of distinct values among so many that are drawn near each other."""
    import numpy as np

    if drawn < 1:
        return 1.0
    there = max(1.0, band(clustering) * int(counts.sum()))
    absent = np.ones(len(counts))
    power = 1 - np.minimum(1.0, counts / there)
    left = drawn
    while left:
        if left & 1:
            absent *= power
        power = power * power
        left >>= 1
    found = float(np.cumsum(1 - absent)[-1]) * band(clustering)
    return min(1.0, max(found, 1.0) / drawn)


MERGED = 0.2
"""Sorting makes runs of about half this share of a window's values, if the window may be so small."""

SMALLEST = 3
"""Of two neighbours one is the larger in any case."""

ROUNDS = 3
"""Runs, the size of windows and what sorting merges depend on each other."""


class Plan(NamedTuple):
    """Steps that put values in order."""

    run_length: float
    """Mean length of the runs that are made before values are put in order."""
    window: int
    """Number of units that are sorted together."""
    sorted_units: int
    """How many of them are; the others stay where they are."""


def planned(spec: ColumnSpec, counts: np.ndarray) -> Plan:
    """Return the steps for values that occur as often as `counts` says, shape (distinct,)."""
    chance = together_by_chance(counts, spec.clustering)
    equal = max(chance, 1 - 1 / spec.mean_run_length)
    if spec.sortedness <= equal:
        return Plan(spec.mean_run_length * (1 - chance), 0, 0)
    # Each break between windows costs 2 / size of sortedness.
    needed = 2 * (1 - equal) / (1 - spec.sortedness + 1e-9)
    length = 1.0
    for _ in range(ROUNDS):
        # Smaller windows where few distinct values would merge to long runs, as far as breaks allow.
        size = max(SMALLEST, round(min(WINDOW / length, max(MERGED / (chance + 1e-9), needed))))
        in_order = (spec.sortedness - equal) / (1 - equal) / (1 - 2 / size)
        # If a share q of a window is sorted, q**2 of neighbours are in order, and half of the others.
        chosen = round(sqrt(min(1.0, in_order)) * size)
        merged = chosen / size * (1 - distinct_share(counts, chosen, spec.clustering))
        length = max(1.0, spec.mean_run_length * (1 - max(merged, chance)))
    return Plan(length, size, chosen)


REPEATED_FROM = 4
"""A window repeats one of so many different ones before it: near enough for any compressor to see."""


def arranged(spec: ColumnSpec, counts: np.ndarray, random: RandomWords) -> np.ndarray:
    """Return codes, each as often as its count, in an order of the stated properties.

    Parameters
    ----------
    spec : ColumnSpec
        States lengths of runs, clustering and sortedness.
    counts : numpy.ndarray
        How often each code occurs, shape (distinct,), dtype int64.
    random : RandomWords
        Decides what is left open.

    Returns
    -------
    numpy.ndarray
        Shape (sum of counts,), dtype int64.
    """
    import numpy as np

    plan = planned(spec, counts)
    longest = spec.longest_run or 0.0
    units = runs.units(counts, plan.run_length, longest, random)
    order = _places(units.codes, counts, spec.clustering, random)
    codes = units.codes[order]
    if units.lengths is None:
        return _window_sorted(codes, plan, random)
    # One number for code and length, so that sorting codes takes their lengths along.
    length_bits = int(units.lengths.max()).bit_length()
    pairs = _window_sorted((codes << length_bits) | units.lengths[order], plan, random)
    return np.repeat(pairs >> length_bits, pairs & (2**length_bits - 1))


def repeated(codes: np.ndarray, rows: int, random: RandomWords) -> np.ndarray:
    """Return `rows` codes: the given ones, and windows of them that come again a little later.

    Parameters
    ----------
    codes : numpy.ndarray
        Shape (fresh,), from one window to `rows`, short of `rows` by a number of whole windows.
    """
    import numpy as np

    again = (rows - len(codes)) // WINDOW
    if not again:
        return codes
    fresh = len(codes) // WINDOW
    is_again = np.zeros(fresh + again, dtype=bool)
    # The first window is new; the others that are take their places at random.
    is_again[1 + _chosen(again, fresh + again - 1, random)] = True
    newest = np.cumsum(~is_again) - 1
    back = random.integers(REPEATED_FROM, len(newest)).astype(np.int64)
    source = np.where(is_again, np.maximum(newest - back, 0), newest)
    whole = codes[: fresh * WINDOW].reshape(fresh, WINDOW)[source].ravel()
    return np.concatenate([whole, codes[fresh * WINDOW :]])


def _chosen(count: int, most: int, random: RandomWords) -> np.ndarray:
    """Return `count` different numbers below `most`."""
    import numpy as np

    return np.argsort(random.words(most), kind="stable")[:count]


def _places(codes: np.ndarray, counts: np.ndarray, clustering: float, random: RandomWords) -> np.ndarray:
    """Return the order of units: of random numbers, to which clustering adds the places of codes."""
    import numpy as np

    index_bits = max(1, (len(codes) - 1).bit_length())
    key = random.words(len(codes)) >> np.uint64(index_bits)
    if clustering >= LEAST:
        middles = np.cumsum(counts) - counts / 2
        places = middles * (2.0**32 / int(counts.sum()))
        noise = (key >> np.uint64(32 - index_bits)) * noise_range(clustering)
        key = (places[codes] + noise).astype(np.uint64)
    # The index in the low bits makes keys unique: any sort gives one order.
    key = (key << np.uint64(index_bits)) | np.arange(len(codes), dtype=np.uint64)
    key.sort()
    return (key & np.uint64(2**index_bits - 1)).astype(np.int64)


def _window_sorted(units: np.ndarray, plan: Plan, random: RandomWords) -> np.ndarray:
    """Sort the planned part of each window, the same places in all; but for the last, short one."""
    import numpy as np

    if not plan.sorted_units or len(units) < plan.window:
        return units
    chosen = np.sort(_chosen(plan.sorted_units, plan.window, random))
    windows = units[: len(units) // plan.window * plan.window].reshape(-1, plan.window)
    windows[:, chosen] = np.sort(windows[:, chosen], axis=1)
    return units
