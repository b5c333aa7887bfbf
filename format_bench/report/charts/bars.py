"""Horizontal bars: a row for each entry, its name at the left, its value at the end of its bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.report.charts.axes import Plot, add_name, add_value_axis, scale_of
from format_bench.report.charts.drawing import WIDTH, Drawing, Line, Rectangle, Text, fitted, width_of
from format_bench.results.marks import BEST, TIE

if TYPE_CHECKING:
    from format_bench.report.model import Series
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ResultCell


_MOST_LABEL = 165.0
_GAP = 6.0
_ALONE, _BESIDE = 13.0, 10.0
"""Height of a bar that is alone in its row, and of one that is not."""
_BETWEEN, _AROUND = 3.0, 4.0
"""What is left free between the bars of a row, and above and below them."""
_TALL = 16
"""Rows from which the ticks stand at both ends."""
_CAP = 2.5
_ROLES = {BEST: "best", TIE: "tie", "": "value"}


@dataclass(frozen=True)
class _Lane:
    """Where a bar lies, by its middle, and how it looks."""

    y: float
    height: float
    colour: str


def draw(
    title: str, series: Sequence[Series], colours: dict[Configuration, str], *, note: str = ""
) -> Drawing:
    """Draw a chart.

    Parameters
    ----------
    title : str
        What is measured.
    series : sequence of Series
        All of one unit, with one value at least; with several, each row has as many bars.
    colours : dict
        A colour for each entry; the rows are in its order.
    note : str
        A line below the title.
    """
    rows = [entry for entry in colours if any(entry in each.cells for each in series)]
    plot = _plot(series, rows, has_note=bool(note))
    drawing = Drawing(WIDTH, plot.bottom + 36)
    drawing.add("title", Text(0, 14, fitted(title, "title", WIDTH)))
    drawing.add("note", Text(0, 31, fitted(note, "note", WIDTH)))
    unit, show = _values(series)[0].unit, series[0].show
    add_value_axis(drawing, plot, lambda value: show(value, unit), both=len(rows) >= _TALL)
    height, pitch = _heights(series)
    for number, entry in enumerate(rows):
        middle = plot.top + (number + 0.5) * pitch
        add_name(drawing, plot, middle, str(entry))
        for index, each in enumerate(series):
            y = middle + (index - (len(series) - 1) / 2) * (height + _BETWEEN)
            _add_bar(drawing, plot, each, entry, _Lane(y, height, colours[entry]))
    return drawing


def _plot(series: Sequence[Series], rows: Sequence[Configuration], *, has_note: bool) -> Plot:
    cells = _values(series)
    ends = [end for cell in cells for end in cell.interval or ()]
    left = _GAP + min(_MOST_LABEL, max(width_of(str(entry), "label") for entry in rows))
    right = _GAP + max(width_of(each.text(entry), "best") for each in series for entry in rows)
    top = (42.0 if has_note else 28.0) + (14.0 if len(rows) >= _TALL else 0.0)
    return Plot(
        left=left,
        right=WIDTH - right,
        top=top,
        bottom=top + len(rows) * _heights(series)[1],
        scale=scale_of([cell.value for cell in cells if cell.value is not None], ends),
    )


def _heights(series: Sequence[Series]) -> tuple[float, float]:
    """Return the height of a bar, and that of a row."""
    height = _ALONE if len(series) == 1 else _BESIDE
    return height, len(series) * (height + _BETWEEN) - _BETWEEN + 2 * _AROUND


def _values(series: Sequence[Series]) -> list[ResultCell]:
    return [cell for each in series for cell in each.cells.values() if cell.value is not None]


def _add_bar(drawing: Drawing, plot: Plot, series: Series, entry: Configuration, lane: _Lane) -> None:
    cell, text = series.cells.get(entry), series.text(entry)
    if cell is None:
        return
    zero, baseline = plot.x(0), lane.y + 4
    if cell.value is None:
        drawing.add("empty", Text(zero + _GAP, baseline, text))
        return
    ends = [plot.x(cell.value), zero]
    width = max(ends) - min(ends)
    bar = Rectangle(
        min(ends), lane.y - lane.height / 2, width, lane.height, lane.colour, f"{entry}: {text}"
    )
    drawing.add(series.role, bar)
    if cell.interval:
        low, high = (plot.x(end) for end in cell.interval)
        ends.append(high)
        up, down = lane.y - _CAP, lane.y + _CAP
        both_caps = ((low, up), (low, down), (low, lane.y), (high, lane.y), (high, up), (high, down))
        drawing.add("halo", Line(both_caps))
        drawing.add("whisker", Line(both_caps))
    role = _ROLES[series.marks.get(entry, "")]
    drawing.add(role, Text(max(ends) + _GAP, baseline, text))
