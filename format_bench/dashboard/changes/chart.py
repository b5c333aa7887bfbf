"""Values of an operation of a format relative to the first point, for charts and tables.

A small chart of one operation of a format over the points of a line, one of many that are alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from format_bench.display.units import format_ratio
from format_bench.report.charts.axes import Scale, scale_of
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
    from format_bench.changes.history import Point
    from format_bench.changes.series import CellSeries, FormatOperation


@dataclass(frozen=True)
class Relative:
    """An operation of a format at each point of a line, 1 being the first that has a value."""

    group: FormatOperation
    middle: list[float | None]
    """Medians over the cells of the group, shape (points,); None where no cell has a value."""
    low: list[float | None]
    high: list[float | None]
    """The smallest and the largest of the cells."""
    statuses: list[str]
    """What it is instead of a value, as in "failed"; empty where there is one."""

    @property
    def values(self) -> list[float]:
        """The medians that there are."""
        return [value for value in self.middle if value is not None]


def relatives(series: Sequence[CellSeries]) -> list[Relative]:
    """Return each group that has values other than 0, in the order of the series."""
    members: dict[FormatOperation, list[CellSeries]] = {}
    for each in series:
        members.setdefault(each.group, []).append(each)
    found = [_relative(group, cells) for group, cells in members.items()]
    return [each for each in found if each.values]


def _relative(group: FormatOperation, cells: list[CellSeries]) -> Relative:
    by_cell = [_ratios(each) for each in cells]
    at_points = [[ratio for ratio in found if ratio is not None] for found in zip(*by_cell, strict=True)]
    return Relative(
        group=group,
        middle=[statistics.median(found) if found else None for found in at_points],
        low=[min(found, default=None) for found in at_points],
        high=[max(found, default=None) for found in at_points],
        statuses=["" if found else _status(cells, point) for point, found in enumerate(at_points)],
    )


def _ratios(series: CellSeries) -> list[float | None]:
    values = [cell.value if cell else None for cell in series.cells]
    first = next((value for value in values if value), None)
    return [value / first if first and value is not None else None for value in values]


def _status(cells: list[CellSeries], point: int) -> str:
    found = [cell.status for each in cells if (cell := each.cells[point]) and cell.value is None]
    return statistics.mode(found) if found else "not run"


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
                f"{point.name}: {format_ratio(middle)},"
                f" from {format_ratio(low)} to {format_ratio(high)}",
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
