"""Horizontal bars, a row for each configuration, with values, intervals and marks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.display.text import quantity
from format_bench.report.charts.axes import AXIS, Scale, scale_of, set_scale
from format_bench.report.charts.figures import (
    ACCENT,
    LABEL,
    PAPER,
    QUIET,
    TEXT,
    Panel,
    add_line,
    fitted,
    name_rows,
    width_of,
)
from format_bench.report.charts.svg import add_tips
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
    """As `marks_of` returns them."""
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


_WIDEST_NAME = 165.0
_GAP = 6.0
_ALONE, _BESIDE = 13.0, 10.0
"""Height of a bar that is alone in its row, and of one that is not."""
_BETWEEN, _AROUND = 3.0, 4.0
"""Space between the bars of a row, and above and below them."""
_MANY_ROWS = 16
"""From so many rows on, ticks are labelled at both ends."""
_TICKS, _AXIS_LABEL = 16.0, 38.0
_CAP = 2.5
_SHOWN_UNITS = {"seconds", "bytes"}
"""Units that the ticks carry; others are in the label of the axis."""
_COUNTS = {"columns", "files", "images"}


@dataclass(frozen=True)
class BarChart:
    """Bars of one or more measures of the same unit.

    Parameters
    ----------
    series : sequence of BarSeries
        With one value at least. With several series, each row has as many bars.
    colours : dict
        A colour for each configuration; the rows are in its order.
    """

    series: Sequence[BarSeries]
    colours: dict[Configuration, str]

    @property
    def height(self) -> float:
        """The height below the heading, in points."""
        ticks = _TICKS if self._has_many_rows else 0
        return ticks + len(self._rows) * self._pitch + _AXIS_LABEL

    def draw(self, panel: Panel) -> None:
        """Draw the bars, their names, values and intervals, and the axis."""
        unit, show = self._cells[0].unit, self.series[0].show
        names = [fitted(str(each), LABEL, _WIDEST_NAME) for each in self._rows]
        texts = (each.text(row) for each in self.series for row in self._rows)
        axes = panel.add_axes()
        panel.place(
            axes,
            left=_GAP + max(width_of(name, LABEL) for name in names),
            right=_GAP + max(width_of(text, TEXT, bold=True) for text in texts),
            top=_TICKS if self._has_many_rows else 0,
            bottom=_AXIS_LABEL,
        )
        set_scale(axes, "x", self._scale, lambda value: show(value, unit))
        axes.tick_params("x", labeltop=self._has_many_rows)
        named = "" if unit in _SHOWN_UNITS else f"{unit}, "
        axes.set_xlabel(f"{named}{self._scale.kind}; smaller is better")
        # In points, so that heights of bars need no conversion.
        axes.set_ylim(len(self._rows) * self._pitch, 0)
        axes.axvline(self._scale.origin, color=AXIS, clip_on=False)
        name_rows(axes, [(number + 0.5) * self._pitch for number in range(len(names))], names)
        for index, each in enumerate(self.series):
            self._draw_series(axes, each, (index - (len(self.series) - 1) / 2) * self._distance)

    def _draw_series(self, axes: Axes, series: BarSeries, shift: float) -> None:
        from matplotlib import rcParams
        from matplotlib.patheffects import withStroke

        origin, clip = self._scale.origin, self._scale.clip
        bars: list[tuple[float, float, str]] = []
        whiskers: list[tuple[float, float]] = []
        tips = []
        for number, row in enumerate(self._rows):
            cell, text, mark = series.cells.get(row), series.text(row), series.marks.get(row, "")
            y = (number + 0.5) * self._pitch + shift
            if cell is None or cell.value is None:
                _write(axes, origin, y, text, color=QUIET, fontstyle="italic")
                continue
            bars.append((y, clip(cell.value) - origin, self.colours[row]))
            tips.append(f"{row}: {text}")
            low, high = (clip(end) for end in cell.interval or (cell.value, cell.value))
            if cell.interval:
                up, down = y - _CAP, y + _CAP
                ends = (low, up), (low, down), (low, y), (high, y), (high, up), (high, down)
                whiskers += [*ends, (math.nan, math.nan)]
            weight = "bold" if mark == BEST else "normal"
            end = max(high, clip(cell.value), origin)
            _write(axes, end, y, text, color=ACCENT if mark else QUIET, fontweight=weight)
        if bars:
            ys, widths, colours = zip(*bars, strict=True)
            look = {"color": PAPER, "edgecolor": colours} if series.outlined else {"color": colours}
            drawn = axes.barh(ys, widths, self._bar, left=origin, clip_on=False, **look)
            for bar, tip in zip(drawn, tips, strict=True):
                add_tips(bar, [tip])
        if whiskers:
            # One line with gaps: a collection would be as many elements as there are intervals.
            xs, ys = zip(*whiskers, strict=True)
            border = withStroke(linewidth=2.2 * rcParams["lines.linewidth"], foreground=PAPER)
            add_line(axes, xs, ys, path_effects=[border])

    @functools.cached_property
    def _rows(self) -> list[Configuration]:
        return [row for row in self.colours if any(row in each.cells for each in self.series)]

    @functools.cached_property
    def _cells(self) -> list[ResultCell]:
        return [cell for each in self.series for cell in each.cells.values() if cell.value is not None]

    @functools.cached_property
    def _scale(self) -> Scale:
        values = [cell.value for cell in self._cells if cell.value is not None]
        ends = [end for cell in self._cells for end in cell.interval or ()]
        return scale_of(values, ends, whole=self._cells[0].unit in _COUNTS)

    @property
    def _has_many_rows(self) -> bool:
        return len(self._rows) >= _MANY_ROWS

    @property
    def _bar(self) -> float:
        """The height of a bar."""
        return _ALONE if len(self.series) == 1 else _BESIDE

    @property
    def _distance(self) -> float:
        """The distance from bar to bar of a row."""
        return self._bar + _BETWEEN

    @property
    def _pitch(self) -> float:
        """The distance from row to row."""
        return len(self.series) * self._distance - _BETWEEN + 2 * _AROUND


def _write(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write text to the right of a point, at a distance relative to the font."""
    axes.annotate(
        text,
        (x, y),
        xytext=(0.55, 0),
        textcoords="offset fontsize",
        va="center_baseline",
        annotation_clip=False,
        **look,
    )
