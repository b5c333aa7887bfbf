"""The order of values: runs, place in the table, order within windows, and windows that come again.

Values are numbered by size, from 0; these numbers are their codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic import clusters, runs
from data_generator.realistic.order_plan import Plan, planned
from data_generator.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.bits import Bits
    from data_generator.spec import ColumnSpec

REPEATED_FROM = 4
"""A window repeats one of so many different ones before it: near enough for any compressor to see."""


def arranged(spec: ColumnSpec, counts: np.ndarray, bits: Bits) -> np.ndarray:
    """Return codes, each as often as its count, in an order of the stated properties.

    Parameters
    ----------
    spec : ColumnSpec
        States lengths of runs, clustering and sortedness.
    counts : numpy.ndarray
        How often each code occurs, shape (distinct,), dtype int64.
    bits : Bits
        Decides what is left open.

    Returns
    -------
    numpy.ndarray
        Shape (sum of counts,), dtype int64.
    """
    import numpy as np

    plan = planned(spec, counts)
    longest = spec.longest_run or 0.0
    units = runs.units(counts, plan.run_length, longest, bits)
    order = _places(units.codes, counts, spec.clustering, bits)
    codes = units.codes[order]
    if units.lengths is None:
        return _window_sorted(codes, plan, bits)
    # One number for code and length, so that sorting codes takes their lengths along.
    length_bits = int(units.lengths.max()).bit_length()
    pairs = _window_sorted((codes << length_bits) | units.lengths[order], plan, bits)
    return np.repeat(pairs >> length_bits, pairs & (2**length_bits - 1))


def repeated(codes: np.ndarray, rows: int, bits: Bits) -> np.ndarray:
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
    is_again[1 + _chosen(again, fresh + again - 1, bits)] = True
    newest = np.cumsum(~is_again) - 1
    back = bits.below(REPEATED_FROM, len(newest)).astype(np.int64)
    source = np.where(is_again, np.maximum(newest - back, 0), newest)
    whole = codes[: fresh * WINDOW].reshape(fresh, WINDOW)[source].ravel()
    return np.concatenate([whole, codes[fresh * WINDOW :]])


def _chosen(count: int, most: int, bits: Bits) -> np.ndarray:
    """Return `count` different numbers below `most`."""
    import numpy as np

    return np.argsort(bits.words(most), kind="stable")[:count]


def _places(codes: np.ndarray, counts: np.ndarray, clustering: float, bits: Bits) -> np.ndarray:
    """Return the order of units: of random numbers, to which clustering adds the places of codes."""
    import numpy as np

    index_bits = max(1, (len(codes) - 1).bit_length())
    key = bits.words(len(codes)) >> np.uint64(index_bits)
    if clustering >= clusters.LEAST:
        middles = np.cumsum(counts) - counts / 2
        places = middles * (2.0**32 / int(counts.sum()))
        noise = (key >> np.uint64(32 - index_bits)) * clusters.noise(clustering)
        key = (places[codes] + noise).astype(np.uint64)
    # The index in the low bits makes keys unique: any sort gives one order.
    key = (key << np.uint64(index_bits)) | np.arange(len(codes), dtype=np.uint64)
    key.sort()
    return (key & np.uint64(2**index_bits - 1)).astype(np.int64)


def _window_sorted(units: np.ndarray, plan: Plan, bits: Bits) -> np.ndarray:
    """Sort the planned part of each window, the same places in all; but for the last, short one."""
    import numpy as np

    if not plan.sorted_units or len(units) < plan.window:
        return units
    chosen = np.sort(_chosen(plan.sorted_units, plan.window, bits))
    windows = units[: len(units) // plan.window * plan.window].reshape(-1, plan.window)
    windows[:, chosen] = np.sort(windows[:, chosen], axis=1)
    return units
