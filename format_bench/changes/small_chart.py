"""A small chart of one operation of a format over the points of a line, one of many that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from format_bench.display.text import times
from format_bench.report.charts.axes import scale_of
from format_bench.report.charts.drawing import (
    ACCENT,
    QUIET,
    WIDTH,
    Circle,
    Drawing,
    Line,
    Text,
    fitted,
    width_of,
)

if TYPE_CHECKING:
    from format_bench.changes.points import Point
    from format_bench.changes.relative import Relative
    from format_bench.report.charts.axes import Scale

_HEIGHT = 160.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, WIDTH - 8, 44.0, 136.0
_RADIUS = 2.6
_CHANGED = 4.2
_LEAST_TOP = 1.5
"""The axis reaches at least to here, so that noise does not fill a chart."""


def draw(
    relative: Relative, points: Sequence[Point], libraries: Sequence[str], changed: set[int]
) -> Drawing:
    """Draw a chart.

    Parameters
    ----------
    relative : Relative
        The values.
    points : sequence of Point
        The points.
    libraries : sequence of str
        Those whose new versions are marked: of the first with numbers, of the others faintly.
    changed : set of int
        The points at which a change begins; they stand out.
    """
    drawing = Drawing(WIDTH, _HEIGHT)
    drawing.add("title", Text(0, 13, fitted(str(relative.group), "title", WIDTH)))
    scale = scale_of([*relative.values, _LEAST_TOP])
    _add_axes(drawing, scale, points)
    _add_versions(drawing, points, libraries)
    runs: list[list[tuple[float, float]]] = [[]]
    for place, (point, middle) in enumerate(zip(points, relative.middle, strict=True)):
        x = _x(place, len(points))
        low, high = relative.low[place], relative.high[place]
        if middle is None or low is None or high is None:
            runs.append([])
            continue
        runs[-1].append((x, _y(scale, middle)))
        drawing.add("leader", Line(((x, _y(scale, low)), (x, _y(scale, high)))))
        stands_out = place in changed
        drawing.add(
            "point",
            Circle(
                *runs[-1][-1],
                _CHANGED if stands_out else _RADIUS,
                ACCENT if stands_out else QUIET,
                f"{point.name}: {times(middle)}, from {times(low)} to {times(high)}",
            ),
        )
    drawing.add("whisker", *(Line(tuple(run)) for run in runs if len(run) > 1))
    return drawing


def _x(place: int, count: int) -> float:
    return _LEFT + 6 + (_RIGHT - _LEFT - 12) * place / max(1, count - 1)


def _y(scale: Scale, value: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * scale.place(value)


def _add_axes(drawing: Drawing, scale: Scale, points: Sequence[Point]) -> None:
    for tick in scale.ticks:
        y = _y(scale, tick)
        drawing.add("grid", Line(((_LEFT, y), (_RIGHT, y))))
        drawing.add("side tick", Text(_LEFT - 5, y + 4, f"{tick:g}"))
    drawing.add("axis", Line(((_LEFT, _BOTTOM), (_RIGHT, _BOTTOM))))
    ends = (0, len(points) - 1)
    half = width_of(points[0].name, "tick") / 2
    for place in sorted(set(ends)):
        x = min(max(_x(place, len(points)), half), WIDTH - half)
        drawing.add("tick", Text(x, _BOTTOM + 14, points[place].name))


def _add_versions(drawing: Drawing, points: Sequence[Point], libraries: Sequence[str]) -> None:
    """Mark new versions; of the first library with numbers where there is room, the newest first."""
    free = WIDTH
    for place, (before, point) in reversed(list(enumerate(pairwise(points), start=1))):
        new = [name for name in libraries if before.libraries.get(name) != point.libraries.get(name)]
        if not new:
            continue
        x = _x(place, len(points))
        first = new[0] == libraries[0]
        drawing.add("front" if first else "grid", Line(((x, _TOP - 6), (x, _BOTTOM))))
        label = f"{new[0]} {point.libraries.get(new[0], 'removed')}"
        half = width_of(label, "tick") / 2
        middle = min(x, WIDTH - half)
        if first and half <= middle <= free - half:
            drawing.add("tick", Text(middle, _TOP - 10, label))
            free = middle - half - 6
