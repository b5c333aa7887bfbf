"""Places for the names of points, so that none covers another name, a point or the edge.

Two measures at once: a point for each entry, and the line of those that nothing beats in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from format_bench.display.units import quantity
from format_bench.report.charts.axes import Plot, Scale, add_value_axis, scale_of
from format_bench.report.charts.drawing import WIDTH, Circle, Drawing, Line, Text, fitted, width_of
from format_bench.results.pareto import pareto_front

if TYPE_CHECKING:
    from format_bench.report.ranking import Points
    from format_bench.results.candidates import Configuration


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


_HEIGHT_SCATTER, _FEW = 380.0, 12
"""Of a drawing, and up to how many points it suffices for; it grows with each further one."""
_MORE, _MOST_HEIGHT = 6.0, 600.0
_TOP, _BELOW, _RIGHT = 66.0, 46.0, 14.0

_Place = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One of the two measures."""

    name: str
    unit: str

    def show(self, value: float) -> str:
        """Return a value as text."""
        return quantity(value, self.unit)


def draw(title: str, points: Points, x: Axis, y: Axis, colours: dict[Configuration, str]) -> Drawing:
    """Draw a scatter chart.

    Parameters
    ----------
    title : str
        What it shows.
    points : dict
        Of each entry its value on each axis; one entry at least.
    x, y : Axis
        The horizontal and the vertical one.
    colours : dict
        A colour for each entry.
    """
    side = scale_of([each[1] for each in points.values()])
    left = 8 + max(width_of(y.show(tick), "side tick") for tick in side.ticks)
    below = scale_of([each[0] for each in points.values()])
    height = min(_HEIGHT_SCATTER + _MORE * max(0, len(points) - _FEW), _MOST_HEIGHT)
    plot = Plot(left, WIDTH - _RIGHT, _TOP, height - _BELOW, below)
    drawing = Drawing(WIDTH, height)
    drawing.add("title", Text(0, 14, fitted(title, "title", WIDTH)))
    drawing.add("note", Text(0, _TOP - 14, f"{y.name}, {side.kind}"))
    add_value_axis(drawing, plot, x.show, name=x.name)
    for tick in side.ticks:
        at = _y(plot, side, tick)
        drawing.add("grid", Line(((plot.left, at), (plot.right, at))))
        drawing.add("side tick", Text(plot.left - 6, at + 4, y.show(tick)))
    placed = {entry: (plot.x(value[0]), _y(plot, side, value[1])) for entry, value in points.items()}
    for entry, place in placed.items():
        tip = f"{entry}: {x.name} {x.show(points[entry][0])}, {y.name} {y.show(points[entry][1])}"
        drawing.add("point", Circle(*place, _RADIUS, colours[entry], tip))
    ahead = pareto_front(points)
    stairs = _stairs([placed[entry] for entry in ahead], plot)
    drawing.add("front", Line(stairs))
    left_out = _add_names(drawing, placed, ahead, line_boxes(stairs), plot)
    note = "dashed: Pareto front, which nothing beats in both"
    drawing.add("note", Text(0, 31, f"{note}; {left_out} without a name" if left_out else note))
    return drawing


def _y(plot: Plot, side: Scale, value: float) -> float:
    return plot.bottom - (plot.bottom - plot.top) * side.place(value)


def _stairs(front_places: Sequence[_Place], plot: Plot) -> tuple[_Place, ...]:
    """Return the border of what the front beats, from the top of the plot to its right end."""
    line = [(front_places[0][0], plot.top), front_places[0]]
    for (_, y), place in pairwise(front_places):
        line += [(place[0], y), place]
    return (*line, (plot.right, front_places[-1][1]))


def _add_names(
    drawing: Drawing,
    placed: dict[Configuration, _Place],
    ahead: list[Configuration],
    lines: list[Box],
    plot: Plot,
) -> int:
    """Add the names there is room for, those on the front first; return how many there are not."""
    names = [(str(entry), *placed[entry], "front label") for entry in ahead]
    names += [(str(entry), *at, "point label") for entry, at in placed.items() if entry not in ahead]
    taken = [point_box(*place) for place in placed.values()]
    within = (plot.left + 2, plot.top - 9, WIDTH, plot.bottom + 4)
    found = places(names, taken, lines, within)
    for (name, _, _, role), place in zip(names, found, strict=True):
        if place:
            drawing.add(role, Text(place.left, place.baseline, name))
            drawing.add("leader", *([Line(place.leader)] if place.leader else []))
    return found.count(None)
