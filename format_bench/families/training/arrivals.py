"""Order and arrival of samples: distance from a full shuffle, repeated and lost samples, stalls."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np

# Neighbours in storage shall not arrive as neighbours, nor every second or tenth one, as from several
# workers that take turns.
_LAGS = 64

# Shuffles whose mean is the yardstick; of more, it differs by less than a hundredth.
_SHUFFLES = 5

_LEAST_SAMPLES = 4


@dataclass(frozen=True)
class Counts:
    """Samples that an epoch had more than once, or not at all."""

    repeated: int
    lost: int

    @classmethod
    def of(cls, indices: Sequence[int], count: int) -> Counts:
        """Return the counts of an epoch of `count` samples."""
        import numpy as np

        times = np.bincount(np.asarray(indices, np.int64), minlength=count)
        return cls(int(np.maximum(times - 1, 0).sum()), int((times[:count] == 0).sum()))

    def __str__(self) -> str:
        """Return e.g. "2 repeated, 1 lost"; empty if there are none."""
        parts = {"repeated": self.repeated, "lost": self.lost}
        return ", ".join(f"{number:,} {word}" for word, number in parts.items() if number)


def order_distance(indices: Sequence[int]) -> float:
    """Return how far an epoch's order is from a full shuffle: 1 for the stored order, 0 for a shuffle.

    The mixing of an order is the least of two kinds of mean distance. One is from each sample's place in
    storage to its place in the epoch (Spearman's footrule: Diaconis and Graham 1977,
    https://doi.org/10.1111/j.2517-6161.1977.tb01624.x). The others are between the places in storage of
    samples that arrive one to 64 steps apart: they are small where neighbours stay together, in shards
    or within a shuffle's window. The distance is the part of a full shuffle's mixing that an order
    lacks.
    """
    import numpy as np

    count = len(indices)
    if count < _LEAST_SAMPLES:
        return 0.0
    # Repeated and lost samples leave ranks that are as dense.
    ranks = np.asarray(indices, np.int64).argsort(kind="stable").argsort(kind="stable")
    return float(max(0.0, 1.0 - _mixing(ranks) / _mixing_of_shuffles(count)))


def _mixing(ranks: np.ndarray) -> float:
    import numpy as np

    places = np.arange(len(ranks))
    means = [np.abs(ranks - places).mean()]
    means += [
        np.abs(ranks[lag:] - ranks[:-lag]).mean() for lag in range(1, min(_LAGS, len(ranks) // 2) + 1)
    ]
    return float(min(means))


@functools.cache
def _mixing_of_shuffles(count: int) -> float:
    orders = (RandomWords("full shuffle", number).words(count).argsort() for number in range(_SHUFFLES))
    return sum(map(_mixing, orders)) / _SHUFFLES


def stalled_share(arrivals: Sequence[float], step_seconds: float) -> float:
    """Return the share of steps that a model waits for their batch, after its first step.

    The model takes the first batch when it arrives, and each further one when its step ends; the
    loader has made them by then if they arrived as fast before a consumer that never waits.

    Parameters
    ----------
    arrivals : sequence of float
        Seconds of the arrivals of batches, taken as soon as they were there.
    step_seconds : float
        Duration of the model's step.
    """
    stalls, free = 0, arrivals[0]
    for arrival in arrivals[1:]:
        free += step_seconds
        stalls += arrival > free
        free = max(free, arrival)
    return stalls / max(1, len(arrivals) - 1)
