"""Pages that fill from the top: headings, paragraphs and drawings, each where there is room for it.

The report as PDF: the verdict, heat maps, charts, losses, empty cells, circumstances.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.report import circumstances, losses_and_gaps
from format_bench.report.charts import heat_map
from format_bench.report.charts.build import charts_of
from format_bench.report.charts.drawing import STYLES, WIDTH, Drawing, Text
from format_bench.report.charts.heat_map import heat_maps
from format_bench.report.model import Outline, SuiteResults, outline_of
from format_bench.report.ranking import findings
from format_bench.report.writers import png
from format_bench.results.marks import legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from format_bench.results.load import Results


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
                png.paint(drawing, self._axes, _MARGIN, self._y)
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
                png.paint(each, self._axes, x, self._y, _scale(each))
            self._y += _height(row) + _GAP / 2

    def end(self) -> None:
        """Hand over the last page."""
        self._save(self._figure)

    def _begin(self) -> None:
        self._figure, self._axes = png.sheet(PAGE_WIDTH, PAGE_HEIGHT)
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


def write(results: Results, path: Path) -> None:
    """Write a PDF of A4 pages; its text is text."""
    from matplotlib.backends.backend_pdf import PdfPages

    outline = outline_of(results)
    about = {"Title": f"{outline.name} - FormatBench report", "Creator": "FormatBench"}
    with png.settings(), PdfPages(path, metadata=about) as pages:
        flow = Flow(pages.savefig)
        flow.heading(outline.name)
        flow.paragraphs([f"{outline.lead}.", circumstances.in_short(results)])
        flow.heading("Verdict", "subheading")
        flow.paragraphs(findings(results))
        flow.paragraphs([legend(outline.floors)], "small")
        for family in outline.families:
            _add_family(flow, family, outline)
        for title, lines in _lists(outline):
            flow.heading(title)
            flow.paragraphs(lines)
        flow.heading("Circumstances")
        flow.paragraphs(_circumstances(results), "small")
        flow.end()


def _add_family(flow: Flow, family: SuiteResults, outline: Outline) -> None:
    maps = (heat_map.draw(each) for each in heat_maps(family, outline.floors))
    flow.drawings(family.title, "heading", maps)
    for group in family.groups:
        title = ", ".join(filter(None, (group.name, family.extent(group))))
        charts = charts_of(group, outline.colours, outline.floors)
        flow.drawings(title, "subheading", (chart.drawing for chart in charts))


def _lists(outline: Outline) -> Iterator[tuple[str, list[str]]]:
    for family in outline.families:
        kind = f", {family.title.lower()}" if len(outline.families) > 1 else ""
        lost = [
            f"{each.configuration} ({', '.join(each.groups)}): {each.words}"
            for each in losses_and_gaps.losses(family)
        ]
        yield f"Losses{kind}", lost or [losses_and_gaps.no_loss(family)]
        empty = [
            f"{each.configuration} ({', '.join(each.groups)}), {each.what}:"
            f" {each.status}: {each.sentence}"
            for each in losses_and_gaps.gaps(family)
        ]
        yield f"Empty cells{kind}", empty or ["Every cell has a value."]


def _circumstances(results: Results) -> Iterator[str]:
    """Yield a paragraph for each section; where runs differ, the values of all, oldest first."""
    for section, rows in groupby(circumstances.facts(results), key=lambda fact: fact.section):
        known = (
            f"{row.name} {' / '.join(row.values[:1] if row.agreed else row.values)}" for row in rows
        )
        yield f"{section}: {', '.join(known)}"
    if not results.circumstances:
        yield "Nothing is known of the machine and the libraries: no file beside the results tells."
