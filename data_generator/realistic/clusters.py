"""How values come to their places in a table, and what they meet there."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

LEAST = 0.02
"""Less clustering than this is what random order has too."""


def noise(clustering: float) -> float:
    """Return how wide noise is, in units of all places, so that sorting place + noise clusters so.

    With uniform places and noise of width t, the place at a given sum is uniform over a range whose mean
    is t - t**2 / 3, or 1 - 1 / (3 t) for t > 1; clustering is 1 less that.
    """
    if clustering < 1 / 3:
        return 1 / (3 * clustering)
    return (3 - sqrt(9 - 12 * (1 - clustering))) / 2


def band(clustering: float) -> float:
    """Return the share of all places that a value and its neighbours come from."""
    return min(1.0, noise(clustering)) if clustering >= LEAST else 1.0


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
