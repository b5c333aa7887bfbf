"""Lines over queries: a line for each configuration, its name at the right end.

A line is interrupted where the words of the queries change, since no order relates e.g. the last query
to a place with the first to a country. The best three have a colour each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from format_bench.report.charts.axes import Scale, scale_of, set_scale
from format_bench.report.charts.figures import (
    ACCENT,
    INK,
    NEUTRAL,
    QUIET,
    SECOND,
    TEXT,
    THIRD,
    Panel,
    fitted,
    width_of,
)
from format_bench.report.charts.svg import add_tips
from format_bench.results.display.text import joined, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from format_bench.report.queries import QueryTable
    from format_bench.results.candidates import Configuration


# Width of the chart: forty queries have room for their words.
LINES_WIDTH = 860.0

NOTE = "thick: the best by geometric mean over the queries"

_WIDEST_NAME, _LEAST_HEIGHT, _PITCH = 200.0, 330.0, 14.5
_GAP, _TOP, _HEADINGS, _LEADING = 8.0, 24.0, 18.0, 26.0
_HUES = (ACCENT, SECOND, THIRD)


@dataclass(frozen=True)
class LineChart:
    """Lines of one metric.

    Parameters
    ----------
    table : QueryTable
        The values, one at least.
    """

    table: QueryTable

    @property
    def height(self) -> float:
        """The height below the heading, in points."""
        return self._bottom + max(_LEAST_HEIGHT, _TOP + _HEADINGS + _PITCH * (len(self._rows) + 1))

    def draw(self, panel: Panel) -> None:
        """Draw the lines, the names of lines and queries, and the axis."""
        up = scale_of([value for each in self._rows.values() for value in each if not math.isnan(value)])
        unit = self.table.measure.unit
        left = _GAP + max(width_of(quantity(tick, unit), TEXT) for tick in up.ticks)
        right = _LEADING + _GAP + max(width_of(each, TEXT, bold=True) for each in self._names.values())
        axes = panel.add_axes(left, right, _TOP + _HEADINGS, self._bottom)
        set_scale(axes, "y", up, lambda value: quantity(value, unit))
        axes.tick_params("y", labelsize="medium", labelcolor=QUIET)
        axes.set_xlim(-0.5, len(self.table.queries) - 0.5)
        axes.set_xticks(range(len(self.table.queries)), self._ticks)
        axes.tick_params("x", rotation=90)
        panel.add_text(0, panel.heading + _TOP - 12, f"{unit}, {up.kind}; smaller is better")
        self._draw_headings(axes, panel.width - left - right)
        self._draw_lines(axes, up, panel.width - left - right)

    def _draw_headings(self, axes: Axes, width: float) -> None:
        """Write the words that queries share above them, between separating lines."""
        start = 0
        for heading, queries in self.table.runs:
            room = width * len(queries) / len(self.table.queries)
            look: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
            axes.annotate(
                fitted(heading, TEXT, room - 4), (start - 0.5, 1), (2, 6),
                xycoords=("data", "axes fraction"), color=INK, **look,
            )  # fmt: skip
            if start:
                axes.axvline(start - 0.5, color=QUIET, linewidth=0.7)
            start += len(queries)
        axes.grid(visible=False, axis="x")

    def _draw_lines(self, axes: Axes, up: Scale, width: float) -> None:
        from matplotlib import rcParams

        ends: dict[Configuration, tuple[float, float]] = {}
        # The best are drawn last, over the others.
        for row, values in reversed(self._rows.items()):
            xs, ys = self._with_gaps(values)
            colour = self._hues.get(row, NEUTRAL)
            factor = 2.4 if row in self._hues else 1.1
            width_of_line = factor * rcParams["lines.linewidth"]
            (line,) = axes.plot(xs, ys, color=colour, linewidth=width_of_line, clip_on=False)
            add_tips(line, [self._tip(row)])
            alone = [(x, y) for x, y in enumerate(values) if self._is_alone(x, values)]
            if alone:
                axes.plot(*zip(*alone, strict=True), ".", color=colour, clip_on=False)
            last = max(x for x, y in enumerate(values) if not math.isnan(y))
            ends[row] = (last + 0.5) / len(values), up.place(values[last])
        self._draw_names(axes, ends, width)

    def _draw_names(
        self, axes: Axes, ends: dict[Configuration, tuple[float, float]], width: float
    ) -> None:
        """Write names right of the plot, each with a line to the end of its line if that is there."""
        height = self.height - self._bottom - _TOP - _HEADINGS
        places = spread({row: y for row, (_, y) in ends.items()}, _PITCH / height)
        for row, place in places.items():
            x, y = ends[row]
            xs: Sequence[float] = (x, 1, 1 + _LEADING / width)
            ys: Sequence[float] = (y, y, place)
            if self._end(row):
                # A line across the plot would look like values.
                xs, ys = (1 + _LEADING / width / 2, xs[-1]), (place, place)
            look: dict[str, Any] = {"color": self._hues.get(row, NEUTRAL), "clip_on": False}
            axes.plot(xs, ys, linewidth=0.8, transform=axes.transAxes, **look)
            weight = "bold" if row in self._hues else "normal"
            look = {"color": INK, "fontweight": weight, "va": "center_baseline", "ha": "left"}
            axes.text(xs[-1] + 4 / width, place, self._names[row], transform=axes.transAxes, **look)

    @cached_property
    def _rows(self) -> dict[Configuration, list[float]]:
        """The values of the configurations that have any; NaN elsewhere."""
        found = {}
        for row in self.table.ranked:
            values = [self.table.cell(row, each).value for each in self.table.queries]
            if any(value is not None for value in values):
                found[row] = [math.nan if value is None else value for value in values]
        return found

    @cached_property
    def _names(self) -> dict[Configuration, str]:
        shown = self.table.short_names
        return {
            row: fitted(f"{shown[row]}{self._end(row)}", TEXT, _WIDEST_NAME, bold=True)
            for row in self._rows
        }

    def _end(self, row: Configuration) -> str:
        """Return an addition to the name of a line that ends early; empty if it does not."""
        last = max(at for at, value in enumerate(self._rows[row]) if not math.isnan(value))
        return "" if last == len(self._rows[row]) - 1 else f", until {self.table.queries[last]}"

    @cached_property
    def _hues(self) -> dict[Configuration, str]:
        """The colours of the best rows."""
        return dict(zip(self.table.complete, _HUES, strict=False))

    @cached_property
    def _ticks(self) -> list[str]:
        names = self.table.names
        return [f"{each} {names[each].last}" if each in names else each for each in self.table.queries]

    @property
    def _bottom(self) -> float:
        return _GAP + max(width_of(each, TEXT) for each in self._ticks) + 4

    def _with_gaps(self, values: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the points of a line, with a NaN between queries of different headings."""
        xs: list[float] = []
        ys: list[float] = []
        start = 0
        for _, queries in self.table.runs:
            end = start + len(queries)
            xs += [*range(start, end), math.nan]
            ys += [*values[start:end], math.nan]
            start = end
        return xs, ys

    def _is_alone(self, at: int, values: Sequence[float]) -> bool:
        """Tell whether a value has no neighbour that a line could lead to."""
        starts = {0}
        for _, queries in self.table.runs:
            starts.add(max(starts) + len(queries))
        before = at not in starts and not math.isnan(values[at - 1])
        after = at + 1 not in starts and not math.isnan(values[at + 1])
        return not math.isnan(values[at]) and not before and not after

    def _tip(self, row: Configuration) -> str:
        mean = self.table.mean_cell(row)
        known = [value for value in self._rows[row] if not math.isnan(value)]
        unit = self.table.measure.unit
        ends = f"from {quantity(min(known), unit)} to {quantity(max(known), unit)}"
        return f"{self.table.short_names[row]}: mean {mean.text} times the best; {ends}"


def spread(wanted: dict[Configuration, float], gap: float) -> dict[Configuration, float]:
    """Return places from 0 to 1 near the wanted ones that are a gap apart, if there is room.

    Neighbours that are too near are moved apart around the mean of their wanted places: the least
    squares under this condition, by pooling adjacent violators.
    """
    ordered = sorted(wanted, key=lambda row: wanted[row])
    blocks: list[list[float]] = []
    for at, row in enumerate(ordered):
        # In these coordinates places may be equal, but not in the wrong order.
        blocks.append([wanted[row] - at * gap])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    room = max(0.0, 1 - gap * (len(ordered) - 1))
    found = [min(max(fmean(block), 0.0), room) for block in blocks for _ in block]
    return {row: found[at] + at * gap for at, row in enumerate(ordered)}


def lines_in_words(table: QueryTable) -> str:
    """Return the content of the chart as sentences."""
    sentences = [f"{len(table.means)} lines over {len(table.queries)} queries"]
    if table.complete:
        names = joined(
            [f"{table.short_names[row]} {table.mean_cell(row).text}" for row in table.complete]
        )
        sentences.append(f"By geometric mean of the ratios to the best of each query: {names}")
    rest = [table.short_names[row] for row in table.ranked if row not in table.complete]
    if rest:
        sentences.append(f"Not all queries have a value of {joined(rest)}")
    return ". ".join(sentences) + "."
