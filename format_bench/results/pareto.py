"""Pareto front: the points that no other point beats in all coordinates at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def pareto_front(points: Mapping[K, Sequence[float]]) -> list[K]:
    """Return the points on the Pareto front, sorted by their coordinates.

    A point is on the front if no other one is at most as large in every coordinate and smaller in one.

    Parameters
    ----------
    points : mapping
        The coordinates of each point, all of the same measures; smaller is better.
    """
    front = [
        key
        for key, point in points.items()
        if not any(_dominates(other, point) for other in points.values())
    ]
    return sorted(front, key=lambda key: tuple(points[key]))


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
