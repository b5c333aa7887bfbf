"""Page with the history of each format over the versions of its libraries."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from format_bench.dashboard.layout import Page, render
from format_bench.library_sets import version_changes
from format_bench.report.charts.axes import scale_of
from format_bench.report.charts.figures import (
    ACCENT,
    AXIS,
    DASHED,
    FAINT,
    INK,
    QUIET,
    TEXT,
    Chart,
    Panel,
    width_of,
)
from format_bench.report.charts.svg import add_tips
from format_bench.results.display.text import format_ratio, joined
from format_bench.results.metrics import METRICS, Noise
from format_bench.results.suites import suite_order, title_of

if TYPE_CHECKING:
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Transform

    from format_bench.changes.history import History, HistoryLine, Point
    from format_bench.changes.series import CellSeries, FormatOperation
    from format_bench.changes.summary import LineChanges
    from format_bench.dashboard.site_data import SiteData

MENU_ORDER = 20

# Operations with a chart; tables have all.
CHARTED = {
    each.operation
    for each in METRICS.values()
    if each.chart and each.noise in (Noise.WALL_TIME, Noise.SIZE)
}

# Libraries that nearly all adapters declare.
SHARED = ("pandas", "numpy")


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page for all lines, the line of the latest run first."""
    points = site.history.lines[0].points
    body = render(
        "versions.html",
        lead=f"{points[0].name} to {points[-1].name}: each format over the versions of its libraries.",
        parts=[_part(site.history, each) for each in site.changes],
    )
    summary = "Speed and size of each format over time, with each version of its libraries."
    yield Page("History over library versions", "versions.html", body, summary)


def _part(history: History, found: LineChanges) -> dict[str, Any]:
    line = found.line
    in_order = sorted(relatives(found.series), key=lambda each: suite_order(each.group.module))
    by_module = groupby(in_order, key=lambda each: each.group.module)
    return {
        "line": line,
        "steps": list(_steps(line)),
        "families": [
            (title_of(module), *_charts_and_tables(history, found, list(members)))
            for module, members in by_module
        ],
    }


def _steps(line: HistoryLine) -> Iterator[tuple[Point, str]]:
    """Yield each point but the first, the newest first, and the versions that changed there."""
    for before, point in reversed(list(pairwise(line.points))):
        found = version_changes(before.libraries, point.libraries)
        yield point, joined(found, most=len(found)) if found else "nothing"


def _charts_and_tables(
    history: History, found: LineChanges, members: list[Relative]
) -> tuple[list[str], list[tuple[str, list[Relative]]]]:
    by_operation: dict[str, list[Relative]] = {}
    for each in members:
        by_operation.setdefault(each.group.operation.name, []).append(each)
    in_order = sorted(members, key=lambda each: each.group.format.casefold())
    charted = [each for each in in_order if each.group.operation.name in CHARTED]
    return [_chart(history, found, each) for each in charted], list(by_operation.items())


def _chart(history: History, found: LineChanges, relative: Relative) -> str:
    group, points = relative.group, found.line.points
    # The chart labels versions of the first library alone, and a library that most adapters declare
    # explains less of one format than a library that few declare.
    declared = sorted(history.libraries_of(group.module, group.format), key=SHARED.__contains__)
    changed = {
        points.index(change.since)
        for change in found.changes
        if (change.module, change.format, change.operation)
        == (group.module, group.format, group.operation.name)
    }
    drawing = HistoryChart(relative, points, declared, changed)
    return Chart(str(group), drawing.alt, _HEIGHT, drawing.draw).inline


@dataclass(frozen=True)
class Relative:
    """An operation of a format at each point of a line; its first value is 1."""

    group: FormatOperation
    middle: list[float | None]
    """Medians over the cells of the group, shape (points,); None where no cell has a value."""
    low: list[float | None]
    high: list[float | None]
    """The smallest and the largest of the cells."""
    statuses: list[str]
    """The status of each point without a value, e.g. "failed"; empty where there is a value."""

    @property
    def values(self) -> list[float]:
        """The medians that exist."""
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


_HEIGHT = 132.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 14.0, 18.0, 22.0
# The axis reaches at least to here, so that noise does not fill a chart.
_LEAST_TOP = 1.5


@dataclass(frozen=True)
class HistoryChart:
    """Medians and ranges of an operation at each point, with the new versions of its libraries.

    Parameters
    ----------
    relative : Relative
        The values.
    points : sequence of Point
        The points.
    libraries : sequence of str
        Those whose new versions are marked: of the first with numbers, of the others faintly.
    changed : set of int
        The points since which a change is in force; they are larger.
    """

    relative: Relative
    points: Sequence[Point]
    libraries: Sequence[str]
    changed: set[int]

    @property
    def alt(self) -> str:
        """The content in words."""
        values = self.relative.values
        extent = (
            f"From {format_ratio(values[0])} at the first point with a value"
            f" to {format_ratio(values[-1])} at the last;"
            f" lowest {format_ratio(min(values))}, highest {format_ratio(max(values))}."
        )
        names = [self.points[place].name for place in sorted(self.changed)]
        return f"{extent} Changes at {joined(names, most=8)}." if names else f"{extent} No change."

    def draw(self, panel: Panel) -> None:
        """Draw the values, their ranges, and the versions."""
        from matplotlib.transforms import BboxTransformTo

        # Without axes of matplotlib, which take three times as long as all else in so small a chart.
        box = panel.plot_box(_LEFT, _RIGHT, _TOP, _BOTTOM)
        line = partial(_add_line, panel, BboxTransformTo(box) + panel.figure.transSubfigure)
        scale = scale_of([*self.relative.values, _LEAST_TOP])
        for tick in scale.ticks:
            y = scale.place(tick)
            line([0, 1], [y, y], color=FAINT, linewidth=1)
            baseline = panel.height - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM) + 4
            panel.add_text(_LEFT - 5, baseline, f"{tick:g}", ha="right")
        line([0, 1], [0, 0], color=AXIS)
        for name, x, side in ((self.points[0], _LEFT, "left"), (self.points[-1], panel.width, "right")):
            panel.add_text(x, panel.height - 7, name.name, ha=side)
        self._draw_versions(panel, line)
        xs = [self._x(place) for place in range(len(self.points))]
        low, middle, high = (
            [math.nan if value is None else scale.place(value) for value in values]
            for values in (self.relative.low, self.relative.middle, self.relative.high)
        )
        # One line with gaps for all ranges.
        ends = [end for pair in zip(low, high, strict=True) for end in (*pair, math.nan)]
        line([x for x in xs for _ in range(3)], ends, color=QUIET, linewidth=0.7)
        line(xs, middle)
        valued = [place for place, value in enumerate(self.relative.middle) if value is not None]
        for is_changed, colour, size in ((False, QUIET, 5), (True, ACCENT, 9)):
            shown = [place for place in valued if (place in self.changed) == is_changed]
            look = {"color": colour, "markersize": size, "marker": "o", "markeredgewidth": 0}
            dots = line(
                [xs[each] for each in shown], [middle[each] for each in shown], linestyle="none", **look
            )
            add_tips(dots, [self._tip(place) for place in shown])

    def _x(self, place: int) -> float:
        """Return the place of a point, from 0 to 1; a single one is at the left end."""
        return 0.02 + 0.98 * place / max(1, len(self.points) - 1)

    def _tip(self, place: int) -> str:
        found = (self.relative.middle[place], self.relative.low[place], self.relative.high[place])
        middle, low, high = (format_ratio(value or 0) for value in found)
        return f"{self.points[place].name}: {middle}, from {low} to {high}"

    def _draw_versions(self, panel: Panel, line: Callable[..., Line2D]) -> None:
        """Mark new versions; of the first library with numbers where there is room, newest first."""
        free = panel.width
        pairs = list(enumerate(pairwise(self.points), start=1))
        for place, (before, point) in reversed(pairs):
            versions = before.libraries, point.libraries
            new = [name for name in self.libraries if len({each.get(name) for each in versions}) > 1]
            if not new:
                continue
            x = self._x(place)
            if new[0] != self.libraries[0]:
                line([x, x], [0, 1], color=FAINT, linewidth=1)
                continue
            line([x, x], [0, 1.05], color=QUIET, linestyle=DASHED)
            label = f"{new[0]} {point.libraries.get(new[0], 'removed')}"
            half = width_of(label, TEXT) / 2
            middle = min(_LEFT + x * (panel.width - _LEFT - _RIGHT), panel.width - half)
            if half <= middle <= free - half:
                panel.add_text(middle, panel.heading + _TOP - 8, label, ha="center")
                free = middle - half - 6


def _add_line(
    panel: Panel, plot: Transform, xs: Sequence[float], ys: Sequence[float], **look: Any
) -> Line2D:
    from matplotlib.lines import Line2D

    line = Line2D(xs, ys, transform=plot, **{"color": INK, **look})
    panel.figure.add_artist(line)
    return line
