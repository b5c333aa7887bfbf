"""Scatter chart of two measures, with the Pareto front of the configurations.

Few points have their names beside them: those on the front, then the nearest to it, each where it covers
neither another name nor a point. The others are grey; their tooltips and the table have their names.
(adjustText 1.4 and textalloc 1.2 let the names of forty points overlap in a chart of this width.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from format_bench.report.charts.axes import Scale, scale_of, set_scale
from format_bench.report.charts.figures import (
    ACCENT,
    DASHED,
    INK,
    NEUTRAL,
    PAPER,
    QUIET,
    TEXT,
    Panel,
    width_of,
)
from format_bench.report.charts.svg import add_tips
from format_bench.results.display.text import plural, quantity
from format_bench.results.marks import pareto_front

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from format_bench.report.ranking import Points
    from format_bench.results.candidates import Configuration
    from format_bench.results.metrics import Measure


# Height of the plot, and up to how many points it suffices for; it grows with each further one.
_HEIGHT, _FEW = 350.0, 12
_MORE, _MOST_HEIGHT = 6.0, 570.0
_TOP, _BOTTOM, _RIGHT, _GAP = 24.0, 50.0, 24.0, 8.0

# Of more names beside points, readers no longer see which belong to the front.
_MOST_NAMES = 12

# Distances of a name from its point, relative to the font; a line shows from the second one on. Only
# names of the front go to the last ones: below the front there are no points.
_DISTANCES, _OF_FRONT = (0.7, 2.0), (0.7, 2.0, 3.5, 5.0, 7.0)
# Directions from a point to the middle of its name, in the order in which they are tried.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 1), (0.7, -1), (-0.7, 1), (-0.7, -1))


@dataclass(frozen=True)
class ScatterChart:
    """Points of two measures.

    Parameters
    ----------
    points : dict
        The value of each configuration on each axis; one at least.
    x, y : Measure
        The horizontal and the vertical one.
    """

    points: Points
    x: Measure
    y: Measure

    @property
    def height(self) -> float:
        """The height below the heading, in points."""
        return min(_HEIGHT + _MORE * max(0, len(self.points) - _FEW), _MOST_HEIGHT)

    def draw(self, panel: Panel) -> None:
        """Draw the points, the front, names and axes."""
        across, up = (scale_of(values) for values in zip(*self.points.values(), strict=True))
        left = _GAP + max(width_of(quantity(tick, self.y.unit), TEXT) for tick in up.ticks)
        axes = panel.add_axes(left, _RIGHT, _TOP, _BOTTOM)
        set_scale(axes, "x", across, lambda value: quantity(value, self.x.unit))
        set_scale(axes, "y", up, lambda value: quantity(value, self.y.unit))
        axes.tick_params("y", labelsize="medium", labelcolor=QUIET)
        panel.add_text(0, panel.heading + _TOP - 12, f"{self.y}, {up.kind}")
        places = {row: (across.clip(x), up.clip(y)) for row, (x, y) in self.points.items()}
        ahead = pareto_front(self.points)
        behind = sorted(
            (row for row in places if row not in ahead),
            key=lambda row: across.place(places[row][0]) + up.place(places[row][1]),
        )
        # The front is drawn last, over the others.
        drawn = [*reversed(behind), *reversed(ahead)]
        xs, ys = zip(*(places[row] for row in drawn), strict=True)
        colours = [ACCENT if row in ahead else NEUTRAL for row in drawn]
        faces = [PAPER if row.loss else colour for row, colour in zip(drawn, colours, strict=True)]
        edges = [colour if row.loss else PAPER for row, colour in zip(drawn, colours, strict=True)]
        dots = axes.scatter(xs, ys, c=faces, edgecolors=edges, clip_on=False, zorder=3)
        add_tips(dots, [self._tip(row) for row in drawn])
        stairs = _stairs([places[row] for row in ahead], across, up)
        xs, ys = zip(*stairs, strict=True)
        axes.plot(xs, ys, color=QUIET, linestyle=DASHED, clip_on=False)
        few = behind if len(places) <= _MOST_NAMES else behind[: max(0, _MOST_NAMES - len(ahead))]
        named = _add_names(axes, places, ahead, few, stairs)
        label = f"{self.x}, {across.kind}; smaller is better"
        left_out = len(places) - named
        axes.set_xlabel(
            f"{label}\n{plural(left_out, 'more point')}, named in the table" if left_out else label
        )

    def _tip(self, row: Configuration) -> str:
        x, y = self.points[row]
        shown = quantity(x, self.x.unit), quantity(y, self.y.unit)
        return f"{row}: {self.x.phrase} {shown[0]}, {self.y.phrase} {shown[1]}"


def _stairs(ahead: Sequence[tuple[float, float]], across: Scale, up: Scale) -> list[tuple[float, float]]:
    """Return the border of the area that the front beats, from the top of the plot to its right end."""
    line = [(ahead[0][0], up.high), ahead[0]]
    for (_, y), point in pairwise(ahead):
        line += [(point[0], y), point]
    return [*line, (across.high, ahead[-1][1])]


def _add_names(
    axes: Axes,
    places: dict[Configuration, tuple[float, float]],
    ahead: Sequence[Configuration],
    few: Sequence[Configuration],
    stairs: Sequence[tuple[float, float]],
) -> int:
    """Add the names that there is room for, on the front and then of a few others; return how many."""
    from matplotlib import rcParams
    from matplotlib.transforms import Bbox

    font = rcParams["font.size"]

    def box_of(spot: Any, offset: tuple[float, float], width: float) -> Bbox:
        left, bottom = spot[0] + (offset[0] - width / 2) * font, spot[1] + (offset[1] - 0.55) * font
        return Bbox.from_bounds(left, bottom, width * font, 1.1 * font)

    spots = dict(zip(places, axes.transData.transform(list(places.values())), strict=True))
    taken = [Bbox([spot, spot]).padded(rcParams["lines.markersize"] / 2) for spot in spots.values()]
    lines = [Bbox(ends).padded(1) for ends in pairwise(axes.transData.transform(stairs))]
    named = 0
    for row in (*ahead, *few):
        bold = row in ahead
        width = width_of(str(row), TEXT, bold=bold) / TEXT
        free = [
            (offset, is_far, box)
            for offset, is_far in _offsets(width, _OF_FRONT if bold else _DISTANCES)
            if not (box := box_of(spots[row], offset, width)).count_overlaps(taken)
            and all(axes.bbox.contains(*corner) for corner in box.corners())
        ]
        # A name may cover the front before it is left out.
        clear = [each for each in free if not each[-1].count_overlaps(lines)]
        if not free:
            continue
        named += 1
        offset, is_far, box = (clear or free)[0]
        taken.append(box)
        axes.annotate(
            str(row),
            places[row],
            xytext=offset,
            textcoords="offset fontsize",
            ha="center",
            va="center",
            color=INK if bold else QUIET,
            fontweight="bold" if bold else "normal",
            arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.7} if is_far else None,
            # Over the grid and the front.
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5},
        )
    return named


def _offsets(width: float, distances: Sequence[float]) -> Iterator[tuple[tuple[float, float], bool]]:
    """Yield ways from a point to the middle of its name, and whether they are far.

    All lengths are relative to the font.
    """
    for distance in distances:
        for across, up in _SIDES:
            yield (across * (distance + width / 2), up * (distance + 0.55)), distance > distances[0]
