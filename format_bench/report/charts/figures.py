"""Charts as matplotlib figures in the style of the report.

A chart is drawn when an output needs it: into a figure of its own for SVG and PNG, into a part of a
page for PDF. Lengths are in points of a chart that is `WIDTH` wide. Text is measured in the font
that matplotlib brings; the sans-serif fonts of browsers are narrower.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.report.charts import svg
from format_bench.report.theme import THEME, VARIABLES

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.transforms import Bbox


# The usual width of a chart: it fits on a phone with its text in full size.
WIDTH = 380.0

PAPER, INK, QUIET, FAINT, AXIS = (THEME[name][0] for name in ("paper", "ink", "quiet", "grid", "axis"))
ACCENT, SECOND, THIRD, NEUTRAL = (THEME[name][0] for name in ("accent", "second", "third", "neutral"))

# Font sizes: of titles, of names of rows, and of all other text.
TITLE, LABEL, TEXT = 14.5, 12.0, 11.0

DASHED = (0, (3, 3))
POINTS_PER_INCH = 72
_FONT = "DejaVu Sans"
# Height of a line of the heading, and the space between its last baseline and the plot.
_LINE, _GAP = 18.0, 10.0


@contextlib.contextmanager
def style(scale: float = 1.0) -> Iterator[None]:
    """Apply the report's style to all drawing and writing inside.

    Parameters
    ----------
    scale : float
        Factor of all sizes of text and lines, for charts that are shown smaller.
    """
    from matplotlib import rc_context

    sizes = {
        "axes.labelpad": 3,
        "axes.labelsize": TEXT,
        "figure.titlesize": TITLE,
        "font.size": TEXT,
        "grid.linewidth": 1,
        "lines.linewidth": 1.2,
        "lines.markersize": 9,
        "patch.linewidth": 1.2,
        "xtick.labelsize": TEXT,
        "xtick.major.pad": 4,
        "ytick.labelsize": LABEL,
        "ytick.major.pad": 5,
    }
    looks: dict[str, Any] = {
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.labelcolor": QUIET,
        "figure.titleweight": "bold",
        "font.family": _FONT,
        "grid.color": FAINT,
        # Text stays text, which can be found and copied, and fonts in PDF are TrueType.
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        # Else ids differ from call to call.
        "svg.hashsalt": "formatbench",
        "text.color": INK,
        # Labels may contain dollar signs.
        "text.parse_math": False,
        "xtick.labelcolor": QUIET,
        "xtick.major.size": 0,
        "ytick.labelcolor": INK,
        "ytick.major.size": 0,
    }
    found: Any = looks | {name: size * scale for name, size in sizes.items()}
    with rc_context(found), warnings.catch_warnings():
        # A label in a script that the font lacks is shown as boxes, and is whole in the tables.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


@functools.lru_cache(maxsize=10_000)
def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text on one line, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=_FONT, size=size, weight="bold" if bold else "normal")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def fitted(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Return a text, shortened with an ellipsis if it is wider than allowed."""
    if width_of(text, size, bold=bold) <= width:
        return text
    lengths = range(1, len(text))
    fit = bisect.bisect_right(
        lengths, width, key=lambda length: width_of(f"{text[:length]}…", size, bold=bold)
    )
    return f"{text[:fit].rstrip()}…"


def wrapped(text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """Return the lines of a text, broken by the mean width of its characters."""
    # Some lines have wider characters than the mean.
    share = 0.94 * width / max(width_of(text, size, bold=bold), 1)
    return textwrap.wrap(text, max(int(len(text) * share), 1)) if share < 1 else [text]


@dataclass(frozen=True)
class Panel:
    """A figure, or the part of one for a chart; lengths are in points of the chart."""

    figure: Figure | SubFigure
    width: float
    height: float
    heading: float
    """Height of the title and the note, at the top."""

    def plot_box(self, left: float, right: float, top: float, bottom: float) -> Bbox:
        """Return the place below the heading between these margins, in shares of the panel."""
        from matplotlib.transforms import Bbox

        low = (left / self.width, bottom / self.height)
        return Bbox([low, (1 - right / self.width, 1 - (self.heading + top) / self.height)])

    def add_axes(self, left: float, right: float, top: float, bottom: float) -> Axes:
        """Return axes without a frame between these margins."""
        return self.figure.add_axes(self.plot_box(left, right, top, bottom).bounds, frameon=False)

    def add_text(self, x: float, y: float, text: str, **look: Any) -> None:
        """Add a line of text with its baseline `y` below the upper edge."""
        look = {"color": QUIET, "va": "baseline"} | look
        self.figure.text(x / self.width, 1 - y / self.height, text, **look)


@dataclass(frozen=True)
class Chart:
    """A picture with its words."""

    title: str
    """Measure and data set."""
    alt: str
    """The content in words, for those who do not see it."""
    plot_height: float
    """Height of the part below the heading, with its axis."""
    draw: Callable[[Panel], None]
    """Draws the part below the heading."""
    note: str = ""
    """A line below the title."""
    width: float = WIDTH
    explored: bool = False
    """Whether pages show the tooltip of a point in a line below, also by keys."""

    @property
    def height(self) -> float:
        """The height with the heading."""
        return self._heading + self.plot_height

    @property
    def svg(self) -> str:
        """The chart as a file of SVG, on paper; its text is text."""
        return svg.text_on(self._element(), PAPER)

    @property
    def inline(self) -> str:
        """The chart as an element of a page, in the page's colours."""
        return svg.text_in(self._element(), VARIABLES)

    def _element(self) -> Element:
        with style():
            usual = {"fill": QUIET, "font-size": f"{TEXT:g}"}
            found = svg.element(self.figure(), self.title, self.alt, usual)
            found.attrib["class"] = "chart explored" if self.explored else "chart"
            return found

    def figure(self) -> Figure:
        """Return a new figure with the chart; call it inside of `style`."""
        from matplotlib.figure import Figure

        inches = (self.width / POINTS_PER_INCH, self.height / POINTS_PER_INCH)
        figure = Figure(figsize=inches, dpi=POINTS_PER_INCH)
        self.paint(figure)
        return figure

    def paint(self, figure: Figure | SubFigure) -> None:
        """Draw the chart into a whole figure or a part of one; call it inside of `style`."""
        panel = Panel(figure, self.width, self.height, self._heading)
        y = 1 - (TITLE + (len(self._title_lines) - 1) * _LINE) / self.height
        title = "\n".join(self._title_lines)
        figure.suptitle(title, x=0, y=y, ha="left", va="baseline", linespacing=_LINE / TITLE)
        panel.add_text(0, self._heading - _GAP, fitted(self.note, TEXT, self.width))
        self.draw(panel)

    @property
    def _heading(self) -> float:
        return _GAP + _LINE * len(self._title_lines) + (_LINE - 1 if self.note else 0)

    @functools.cached_property
    def _title_lines(self) -> list[str]:
        first, *others = wrapped(self.title, TITLE, self.width, bold=True) or [""]
        return [first, *([fitted(" ".join(others), TITLE, self.width, bold=True)] if others else [])]
