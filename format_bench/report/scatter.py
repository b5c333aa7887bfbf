"""Two measures at once: a point for each entry, and the line of those that nothing beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from format_bench.display.text import quantity
from format_bench.report.axes import Plot, add_value_axis
from format_bench.report.drawing import WIDTH, Circle, Drawing, Line, Text, fitted, width_of
from format_bench.report.label_places import Box, line_boxes, places, point_box
from format_bench.report.pareto import Points, front
from format_bench.report.scale import Scale, scale_of

if TYPE_CHECKING:
    from format_bench.report.cells import Entry

_HEIGHT, _FEW = 380.0, 12
"""Of a drawing, and up to how many points it suffices for; it grows with each further one."""
_MORE, _MOST_HEIGHT = 6.0, 600.0
_TOP, _BELOW, _RIGHT = 66.0, 46.0, 14.0
_RADIUS = 5.0

_Place = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One of the two measures."""

    name: str
    unit: str

    def show(self, value: float) -> str:
        """Return a value as text."""
        return quantity(value, self.unit)


def draw(title: str, points: Points, x: Axis, y: Axis, colours: dict[Entry, str]) -> Drawing:
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
    height = min(_HEIGHT + _MORE * max(0, len(points) - _FEW), _MOST_HEIGHT)
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
    ahead = front(points)
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
    drawing: Drawing, placed: dict[Entry, _Place], ahead: list[Entry], lines: list[Box], plot: Plot
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
