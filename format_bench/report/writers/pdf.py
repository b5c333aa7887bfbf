"""The report as PDF: the verdict, heat maps, charts, losses, empty cells, circumstances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.report import losses_and_gaps, metadata_table, turns
from format_bench.report.charts.build import pictures
from format_bench.report.charts.figures import POINTS_PER_INCH, QUIET, Chart, style, wrapped
from format_bench.report.model import Outline, outline_of
from format_bench.report.ranking import headline_of, verdict
from format_bench.results.marks import LEGEND

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from format_bench.results.load import Results


# A4, 210 by 297 mm, in points.
PAGE_WIDTH, PAGE_HEIGHT = 595.0, 842.0

_MARGIN = 36.0
_INNER_WIDTH, _INNER_HEIGHT = PAGE_WIDTH - 2 * _MARGIN, PAGE_HEIGHT - 2 * _MARGIN
# Scale of charts: six charts of a dozen rows fill a page.
_SCALE = 0.6
# A chart that would have to be smaller in one column gets both.
_LEAST_SCALE = 0.5
_COLUMN_GAP, _ROW_GAP = 24.0, 12.0
_COLUMN = (_INNER_WIDTH - _COLUMN_GAP) / 2

_HEADING, _SUBHEADING, _BODY, _SMALL = 17.0, 12.0, 9.0, 7.0
_LEADING = 1.45
# Room that must be left below a heading, else it goes to the next page.
_BELOW_HEADING = 45.0


class Pages:
    """A document that fills page by page from the top.

    Parameters
    ----------
    save : callable
        Takes each page when it is full, a figure of matplotlib.
    """

    def __init__(self, save: Callable[[Figure], Any]) -> None:
        self._save = save
        self._page = _empty_page()
        self._used = [_MARGIN, _MARGIN]
        """How far down each column of the page is filled, in points."""

    def heading(self, text: str, size: float = _HEADING, below: float = _BELOW_HEADING) -> None:
        """Add a heading where so much room is left below it."""
        self._need(3 * size + below)
        if max(self._used) > _MARGIN:
            self._add_height(size)
        self.paragraphs([text], size, fontweight="bold")

    def paragraphs(self, texts: Iterable[str], size: float = _BODY, **look: Any) -> None:
        """Add paragraphs, broken into lines, also between pages."""
        for text in texts:
            for line in wrapped(text, size, _INNER_WIDTH, bold="fontweight" in look):
                self._need(size * _LEADING)
                x, y = _MARGIN / PAGE_WIDTH, 1 - (max(self._used) + size) / PAGE_HEIGHT
                self._page.text(x, y, line, fontsize=size, va="baseline", **look)
                self._add_height(size * _LEADING)
            self._add_height(size * 0.5)

    def charts(self, title: str, size: float, charts: Sequence[Chart]) -> None:
        """Add charts under a heading, each in the column that is less filled."""
        first = charts[0].height * _scale(charts[0]) if charts else 0
        self.heading(title, size, first + _ROW_GAP)
        for chart in charts:
            shorter = self._used.index(min(self._used))
            columns = (0, 1) if _needs_both_columns(chart) else (shorter,)
            scale = _scale(chart)
            self._need(chart.height * scale, columns)
            with style(scale):
                chart.paint(self._part(columns, chart.width * scale, chart.height * scale))
            self._add_height(chart.height * scale + _ROW_GAP, columns)

    def end(self) -> None:
        """Hand over the last page."""
        self._save(self._page)

    def _need(self, height: float, columns: Sequence[int] = (0, 1)) -> None:
        """Go to the next page if less room is left on this one."""
        used = max(self._used[column] for column in columns)
        if used > _MARGIN and used + height > PAGE_HEIGHT - _MARGIN:
            self._save(self._page)
            self._page, self._used = _empty_page(), [_MARGIN, _MARGIN]

    def _add_height(self, height: float, columns: Sequence[int] = (0, 1)) -> None:
        """Fill columns, together if they are several."""
        used = max(self._used[column] for column in columns)
        for column in columns:
            self._used[column] = used + height

    def _part(self, columns: Sequence[int], width: float, height: float) -> SubFigure:
        """Return a part of the page, at the first free place of its columns."""
        from matplotlib.gridspec import GridSpec

        x = _MARGIN + columns[0] * (_COLUMN + _COLUMN_GAP)
        y = max(self._used[column] for column in columns)
        # Parts of figures have no other place than a cell of a grid: here the middle one of nine.
        grid = GridSpec(
            3,
            3,
            self._page,
            width_ratios=(x, width, PAGE_WIDTH - x - width),
            height_ratios=(y, height, PAGE_HEIGHT - y - height),
        )
        return self._page.add_subfigure(grid[1, 1])


def _empty_page() -> Figure:
    from matplotlib.figure import Figure

    inches = (PAGE_WIDTH / POINTS_PER_INCH, PAGE_HEIGHT / POINTS_PER_INCH)
    return Figure(figsize=inches, dpi=POINTS_PER_INCH)


def _needs_both_columns(chart: Chart) -> bool:
    return _COLUMN / chart.width < _LEAST_SCALE


def _scale(chart: Chart) -> float:
    """Return the scale at which a chart fits into its column and a page."""
    width = _INNER_WIDTH if _needs_both_columns(chart) else _COLUMN
    return min(_SCALE, width / chart.width, (_INNER_HEIGHT - _BELOW_HEADING) / chart.height)


def write(results: Results, path: Path) -> None:
    """Write a PDF of A4 pages; its text is text."""
    from matplotlib.backends.backend_pdf import PdfPages

    outline = outline_of(results)
    metadata = {"Title": f"{outline.name} - FormatBench report", "Creator": "FormatBench"}
    with style(), PdfPages(path, metadata=metadata) as document:
        pages = Pages(document.savefig)
        pages.heading(outline.name)
        about = (f"{outline.lead}.", metadata_table.summary(results), outline.mixture)
        pages.paragraphs(list(filter(None, about)))
        pages.heading("Verdict", _SUBHEADING)
        pages.paragraphs([*headline_of(results).sentences, *verdict(outline.suites)])
        notes = [str(outline.self_check), LEGEND]
        pages.paragraphs(list(filter(None, notes)), _SMALL, color=QUIET)
        for suite, group, drawn, maps in pictures(outline):
            if group is None:
                pages.charts(suite.title, _HEADING, maps)
            else:
                title = ", ".join(filter(None, (group.name, suite.extent(group))))
                pages.charts(title, _SUBHEADING, [*drawn, *maps])
        for title, lines in _lists(outline):
            pages.heading(title)
            pages.paragraphs(lines)
        pages.heading("Circumstances")
        pages.paragraphs(_circumstances(results), _SMALL, color=QUIET)
        pages.end()


def _lists(outline: Outline) -> Iterator[tuple[str, list[str]]]:
    for suite in outline.suites:
        kind = f", {suite.title.lower()}" if len(outline.suites) > 1 else ""
        lost = [
            f"{each.configuration} ({', '.join(each.groups)}): {each.words}"
            for each in losses_and_gaps.losses(suite)
        ]
        turned = [
            f"{each.measure} on {each.data}: {each.one} is ahead on {each.places(each.one_ahead)}, "
            f"{each.other} on {each.places(each.other_ahead)}"
            for each in turns.turns(suite)
        ]
        if turned:
            yield f"Rankings that turn around between conditions{kind}", turned
        yield f"Losses{kind}", lost or [losses_and_gaps.no_loss(suite)]
        empty = [
            f"{each.configuration} ({', '.join(each.groups)}), {each.what}:"
            f" {each.status}: {each.sentence}"
            for each in losses_and_gaps.gaps(suite)
        ]
        yield f"Empty cells{kind}", empty or ["Every cell has a value."]


def _circumstances(results: Results) -> Iterator[str]:
    """Yield a paragraph for each section; where runs differ, the values of all, oldest first."""
    for section, rows in metadata_table.by_section(results):
        known = (
            f"{row.name} {' / '.join(row.values[:1] if row.agreed else row.values)}" for row in rows
        )
        yield f"{section}: {', '.join(known)}"
    if not results.metadata:
        yield "The machine and the libraries are not known: no file beside the results describes them."
