"""Pages that fill from the top: headings, paragraphs and drawings, each where there is room for it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from format_bench.report import figures
from format_bench.report.drawing import WIDTH, Drawing, Text
from format_bench.report.styles import STYLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE_WIDTH, PAGE_HEIGHT = 794.0, 1123.0
"""A4, 210 by 297 mm, in pixels of 1/96 inch."""

_MARGIN, _GAP = 48.0, 40.0
_INNER_WIDTH, _INNER_HEIGHT = PAGE_WIDTH - 2 * _MARGIN, PAGE_HEIGHT - 2 * _MARGIN
_SCALE = 0.8
"""Of drawings, so that two of the usual width stand side by side, and usually three above each other."""
_LEADING = 1.45
"""From line to line, as a multiple of the size of the text."""
_EMS = 0.58
"""Width of a character, rather too much."""
_BELOW_HEADING = 60.0
"""What must fit below a heading, else it goes to the next page."""


class Flow:
    """Fills pages and hands over each that is full.

    Parameters
    ----------
    save : callable
        Takes a page, a figure of matplotlib.
    """

    def __init__(self, save: Callable[[Figure], Any]) -> None:
        self._save = save
        self._begin()

    def heading(self, text: str, role: str = "heading", below: float = _BELOW_HEADING) -> None:
        """Add a heading, "heading" or "subheading", where so much room is left below it."""
        self._need(3 * STYLES[role].size + below)
        if self._y > _MARGIN:
            self._y += STYLES[role].size
        self.paragraphs([text], role)

    def paragraphs(self, texts: Iterable[str], role: str = "body") -> None:
        """Add paragraphs, broken into lines."""
        size = STYLES[role].size
        for text in texts:
            for line in textwrap.wrap(text, int(_INNER_WIDTH / (size * _EMS))):
                self._need(size * _LEADING)
                drawing = Drawing(_INNER_WIDTH, size)
                drawing.add(role, Text(0, size, line))
                figures.paint(drawing, self._axes, _MARGIN, self._y)
                self._y += size * _LEADING
            self._y += size * 0.5

    def drawings(self, title: str, role: str, drawings: Iterable[Drawing]) -> None:
        """Add a heading and drawings, two in a row, or one where it is wide."""
        rows = list(_rows(drawings))
        self.heading(title, role, *[_height(row) for row in rows[:1]])
        for row in rows:
            self._need(_height(row))
            for number, each in enumerate(row):
                x = _MARGIN + number * (WIDTH * _SCALE + _GAP)
                figures.paint(each, self._axes, x, self._y, _scale(each))
            self._y += _height(row) + _GAP / 2

    def end(self) -> None:
        """Hand over the last page."""
        self._save(self._figure)

    def _begin(self) -> None:
        self._figure, self._axes = figures.sheet(PAGE_WIDTH, PAGE_HEIGHT)
        self._y = _MARGIN

    def _need(self, height: float) -> None:
        """Go to the next page if there is less room on this one."""
        if self._y > _MARGIN and self._y + height > PAGE_HEIGHT - _MARGIN:
            self._save(self._figure)
            self._begin()


def _rows(drawings: Iterable[Drawing]) -> Iterator[list[Drawing]]:
    row: list[Drawing] = []
    for each in drawings:
        if row and each.width > WIDTH:
            yield row
            row = []
        row.append(each)
        if len(row) == 2 or each.width > WIDTH:  # noqa: PLR2004 (two columns)
            yield row
            row = []
    if row:
        yield row


def _scale(drawing: Drawing) -> float:
    """Return how much smaller a drawing is shown; what is too large for a page is made to fit."""
    most_height = _INNER_HEIGHT - _BELOW_HEADING
    return min(_SCALE, _INNER_WIDTH / drawing.width, most_height / drawing.height)


def _height(row: list[Drawing]) -> float:
    return max(each.height * _scale(each) for each in row)
