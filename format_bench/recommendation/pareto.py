"""Which candidates no other one beats in everything."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def on_front(candidates: Sequence[Mapping[K, float]]) -> list[bool]:
    """Return for each candidate whether it is on the Pareto front.

    One is not if another is at most as large in every measure and smaller in one.

    Parameters
    ----------
    candidates : sequence of mapping
        Of each candidate a number for each measure; smaller is better.
    """
    return [not any(_dominates(other, each) for other in candidates) for each in candidates]


def _dominates(one: Mapping[K, float], other: Mapping[K, float]) -> bool:
    differences = [one[measure] - value for measure, value in other.items()]
    return max(differences) <= 0 and min(differences) < 0
