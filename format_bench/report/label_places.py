"""Places for the names of points, so that none covers another name, a point or the edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from format_bench.report.drawing import width_of

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

Names = Sequence[tuple[str, float, float, str]]

_HEIGHT = 12.0
_ASCENT = 9.0
"""How far text reaches above its baseline."""
_RADIUS = 5.0
_DISTANCES = (8.0, 20.0, 34.0)
"""Of a name from its point, tried in this order."""


@dataclass(frozen=True)
class Place:
    """Where a name is."""

    left: float
    baseline: float
    leader: tuple[tuple[float, float], ...]
    """The ends of a line from the point to a name that is not near it; none if it is."""


def places(names: Names, taken: list[Box], lines: Sequence[Box], within: Box) -> list[Place | None]:
    """Return where each name goes; None where there is no room.

    Parameters
    ----------
    names : sequence of (str, float, float, str)
        Each name, its point, and its role in the drawing; those that come first choose first.
    taken : list of Box
        What must stay free. The boxes of the names are added.
    lines : sequence of Box
        What should stay free, but may be covered before a name is left out.
    within : Box
        Where all names must be.
    """
    found: list[Place | None] = []
    for name, x, y, role in names:
        around = [
            (box, distance)
            for distance in _DISTANCES
            for box in _around(x, y, width_of(name, role), distance)
            if _inside(box, within) and not _hits(box, taken)
        ]
        clear = [each for each in around if not _hits(each[0], lines)]
        if not around:
            found.append(None)
            continue
        box, distance = (clear or around)[0]
        taken.append(box)
        near = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
        leader = () if distance == _DISTANCES[0] else ((x, y), near)
        found.append(Place(box[0], box[1] + _ASCENT, leader))
    return found


def point_box(x: float, y: float) -> Box:
    """Return the box of a point."""
    return x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS


def line_boxes(points: Sequence[tuple[float, float]]) -> list[Box]:
    """Return the boxes of the stretches of a line that goes along the axes."""
    return [
        (min(x, next_x) - 1, min(y, next_y) - 1, max(x, next_x) + 1, max(y, next_y) + 1)
        for (x, y), (next_x, next_y) in pairwise(points)
    ]


def _around(x: float, y: float, width: float, distance: float) -> list[Box]:
    right, left, above, below = x + distance, x - distance - width, y - distance - _HEIGHT, y + distance
    order = [(right, y - _HEIGHT / 2), (left, y - _HEIGHT / 2)]
    order += [(at, top) for top in (above, below) for at in (x - width / 2, x, x - width, right, left)]
    return [(at, top, at + width, top + _HEIGHT) for at, top in order]


def _inside(box: Box, within: Box) -> bool:
    return box[0] >= within[0] and box[1] >= within[1] and box[2] <= within[2] and box[3] <= within[3]


def _hits(box: Box, taken: Sequence[Box]) -> bool:
    return any(
        box[0] < right and left < box[2] and box[1] < bottom and top < box[3]
        for left, top, right, bottom in taken
    )
