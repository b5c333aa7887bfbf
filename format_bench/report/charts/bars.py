"""Horizontal bars sorted by value, a row for each configuration, with intervals and marks.

The best and its ties have the one colour of the chart.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.report.charts.axes import Scale, scale_of, set_scale
from format_bench.report.charts.figures import (
    ACCENT,
    AXIS,
    INK,
    LABEL,
    NEUTRAL,
    PAPER,
    QUIET,
    TEXT,
    Panel,
    fitted,
    width_of,
)
from format_bench.report.charts.svg import add_tips
from format_bench.results.display.text import plural, quantity
from format_bench.results.marks import BEST, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ResultCell


@dataclass(frozen=True)
class BarSeries:
    """The bars of one measure."""

    cells: dict[Configuration, ResultCell]
    """By configuration; those without a record may be missing."""
    marks: dict[Configuration, str]
    """As `ComparisonGroup.marks` returns them."""
    outlined: bool = False
    """Whether the bars are outlines, which sets a second series apart without a further colour."""
    show: Callable[[float, str], str] = quantity
    """Returns a value as text, given its unit."""

    def text(self, row: Configuration) -> str:
        """Return the text at the end of a bar, or the status if it has no value."""
        cell = self.cells.get(row)
        if cell is None or cell.value is None:
            return cell.status if cell else ""
        return f"{self.show(cell.value, cell.unit)} {WORDS[self.marks.get(row, '')]}".strip()


# Names such as "HDF5.fixed blosc2:lz4 5" fit; longer ones would leave the bars less than a third.
_WIDEST_NAME = 165.0
_GAP, _CAP = 6.0, 2.5
# Height of the only bar of a row, and of each of several, which have 3 points between them.
_ROW, _BAR = 13.0, 10.0
_BETWEEN_ROWS = 7.0
_TICKS, _AXIS_LABEL = 16.0, 38.0
# Of more rows the first ones are drawn: taller bars do not fit on a screen.
_MOST_HEIGHT = 600.0
# From so many rows on, ticks are labelled at both ends.
_MANY_ROWS = 16
# Units that the ticks carry, and units of values that are whole numbers.
_SHOWN_UNITS = {"seconds", "bytes"}
_COUNTS = {"columns", "fields", "files", "images", "properties", "samples"}


@dataclass(frozen=True)
class BarChart:
    """Bars of one or more measures of the same unit.

    Parameters
    ----------
    series : sequence of BarSeries
        With one value at least. With several series, each row has as many bars, and the first series
        has the order.
    """

    series: Sequence[BarSeries]

    @property
    def height(self) -> float:
        """The height below the heading, in points."""
        return self._top + len(self._rows) * self._pitch + _AXIS_LABEL + (_ROW if self._left_out else 0)

    def draw(self, panel: Panel) -> None:
        """Draw the bars, their names, values and intervals, and the axis."""
        shown = (each.cells.get(row) for each in self.series for row in self._rows)
        cells = [cell for cell in shown if cell and cell.value is not None]
        unit, show = cells[0].unit, self.series[0].show
        values = [cell.value for cell in cells if cell.value is not None]
        ends = [end for cell in cells for end in cell.interval or ()]
        scale = scale_of(values, ends, whole=unit in _COUNTS)
        names = [fitted(str(each), LABEL, _WIDEST_NAME) for each in self._rows]
        texts = [each.text(row) for each in self.series for row in self._rows]
        left = _GAP + max(width_of(name, LABEL) for name in names)
        right = _GAP + max(width_of(text, TEXT, bold=True) for text in texts)
        axes = panel.add_axes(left, right, self._top, self.height - self._top - len(names) * self._pitch)
        set_scale(axes, "x", scale, lambda value: show(value, unit))
        axes.tick_params("x", labeltop=self._top > 0)
        named = "" if unit in _SHOWN_UNITS else f"{unit}, "
        axes.set_xlabel(f"{named}{scale.kind}; smaller is better")
        # In points, so that heights of bars need no conversion.
        axes.set_ylim(len(names) * self._pitch, 0)
        axes.set_yticks([(number + 0.5) * self._pitch for number in range(len(names))], names)
        axes.grid(visible=False, axis="y")
        axes.axvline(scale.origin, color=AXIS, clip_on=False)
        if self._left_out:
            panel.add_text(0, panel.height - 4, f"{plural(self._left_out, 'more row')} in the table")
        for index, each in enumerate(self.series):
            self._draw_series(axes, scale, each, (index - (len(self.series) - 1) / 2) * _ROW)

    def _draw_series(self, axes: Axes, scale: Scale, series: BarSeries, shift: float) -> None:
        from matplotlib import rcParams
        from matplotlib.patches import Rectangle
        from matplotlib.patheffects import withStroke

        whiskers: list[tuple[float, float]] = []
        for number, row in enumerate(self._rows):
            cell, text, mark = series.cells.get(row), series.text(row), series.marks.get(row, "")
            y = (number + 0.5) * self._pitch + shift
            if cell is None or cell.value is None:
                _write(axes, scale.origin, y, text, color=QUIET, fontstyle="italic")
                continue
            value, colour = scale.clip(cell.value), ACCENT if mark else NEUTRAL
            fill, edge = (PAPER, colour) if series.outlined else (colour, "none")
            height = _ROW if len(self.series) == 1 else _BAR
            corner, width = (scale.origin, y - height / 2), value - scale.origin
            bar = Rectangle(corner, width, height, facecolor=fill, edgecolor=edge, clip_on=False)
            axes.add_artist(bar)
            add_tips(bar, [f"{row}: {text}"])
            low, high = (scale.clip(end) for end in cell.interval or (value, value))
            if cell.interval:
                up, down = y - _CAP, y + _CAP
                whiskers += [(low, up), (low, down), (low, y), (high, y), (high, up), (high, down)]
                whiskers.append((math.nan, math.nan))
            weight, ink = "bold" if mark == BEST else "normal", ACCENT if mark else QUIET
            _write(axes, max(value, high, scale.origin), y, text, color=ink, fontweight=weight)
        if whiskers:
            # One line with gaps: a collection would be as many elements as there are intervals.
            border = withStroke(linewidth=2.2 * rcParams["lines.linewidth"], foreground=PAPER)
            xs, ys = zip(*whiskers, strict=True)
            axes.plot(xs, ys, color=INK, clip_on=False, path_effects=[border])

    @functools.cached_property
    def _ordered(self) -> list[Configuration]:
        return sorted({row for each in self.series for row in each.cells}, key=self._place)

    def _place(self, row: Configuration) -> tuple[Any, ...]:
        """Return a sort key: by the first value; rows without one come last."""
        cells = (each.cells.get(row) for each in self.series)
        values = [cell.value for cell in cells if cell and cell.value is not None]
        return (not values, values[:1], row.sort_key)

    @property
    def _rows(self) -> list[Configuration]:
        return self._ordered[: int(_MOST_HEIGHT / self._pitch)]

    @property
    def _left_out(self) -> int:
        return len(self._ordered) - len(self._rows)

    @property
    def _top(self) -> float:
        return _TICKS if len(self._rows) >= _MANY_ROWS else 0.0

    @property
    def _pitch(self) -> float:
        """The distance from row to row."""
        return len(self.series) * _ROW + _BETWEEN_ROWS


def _write(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write text to the right of a point, at a distance relative to the font."""
    look |= {"textcoords": "offset fontsize", "va": "center_baseline", "annotation_clip": False}
    axes.annotate(text, (x, y), (0.55, 0), **look)
