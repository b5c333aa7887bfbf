"""A heat map as a drawing, for outputs that have no tables of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.report.drawing import Drawing, Rectangle, Text, fitted, width_of
from format_bench.report.heat_map import COLOURS

if TYPE_CHECKING:
    from format_bench.report.heat_map import HeatMap

_ROW = 20.0
_TOP = 58.0
_MOST_LABEL = 165.0
_LEAST_COLUMN, _MOST_COLUMN = 64.0, 130.0
_GAP = 2.0
_LEAST_WIDTH = 380.0

NOTE = "times the best of each column"


def draw(heat_map: HeatMap) -> Drawing:
    """Draw a map; it is as wide as its columns need."""
    left = 8 + min(_MOST_LABEL, max(width_of(str(entry), "label") for entry, _ in heat_map.rows))
    names = max(width_of(name, "tick") for name in heat_map.columns) + 8
    column = min(max(names, _LEAST_COLUMN), _MOST_COLUMN)
    width = max(left + column * len(heat_map.columns), _LEAST_WIDTH)
    drawing = Drawing(width, _TOP + _ROW * len(heat_map.rows) + 6)
    drawing.add("title", Text(0, 14, fitted(heat_map.title, "title", width)))
    drawing.add("note", Text(0, 31, NOTE))
    for number, name in enumerate(heat_map.columns):
        middle = left + column * (number + 0.5)
        drawing.add("tick", Text(middle, _TOP - 7, fitted(name, "tick", column - _GAP)))
    for row, (entry, cells) in enumerate(heat_map.rows):
        y = _TOP + _ROW * row
        drawing.add("label", Text(left - 6, y + 14, fitted(str(entry), "label", left - 6)))
        for number, cell in enumerate(cells):
            x = left + column * number
            drawing.add(
                "bar", Rectangle(x, y, column - _GAP, _ROW - _GAP, COLOURS[cell.shade], cell.tip)
            )
            role = "best cell" if cell.shade == "best" else "cell"
            text = fitted(cell.text, role, column - _GAP)
            drawing.add(role, Text(x + (column - _GAP) / 2, y + 13, text))
    return drawing
