"""Charts as matplotlib figures in the style of the report.

A chart is drawn when an output needs it: into a figure of its own for SVG and PNG, into a part of a
page for PDF. Lengths are in points of a chart that is `WIDTH` wide. Text is measured in the font
that matplotlib brings; the sans-serif fonts of browsers are narrower.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.report.charts import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Transform


WIDTH = 380.0
"""The usual width of a chart: it fits on a phone with its text in full size."""

PAPER, INK, QUIET, FAINT, ACCENT = "#ffffff", "#1d2025", "#5a606b", "#e4e5e0", "#0b5d3b"

TITLE, LABEL, TEXT = 14.5, 12.0, 11.0
"""Font sizes: of titles, of names of rows, and of all other text."""

DASHED = (0, (3, 3))
POINTS_PER_INCH = 72
_FONT = "DejaVu Sans"
_FIRST_LINE, _LEADING = 14.0, 1.25
"""The first baseline of a title in points, and the distance of the next relative to the font."""
_NOTE, _BELOW_NOTE = 17.0, 10.0
_TITLE_LINES = 2


@contextlib.contextmanager
def style(scale: float = 1.0) -> Iterator[None]:
    """Apply the report's style to what is drawn and written inside.

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
        "ytick.labelsize": TEXT,
        "ytick.major.pad": 5,
    }
    looks: dict[str, Any] = {
        "axes.axisbelow": True,
        # Set for all, as a change of an axis makes it build its ticks once more.
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
        "ytick.labelcolor": QUIET,
        "ytick.major.size": 0,
    }
    found: Any = looks | {name: size * scale for name, size in sizes.items()}
    with rc_context(found), warnings.catch_warnings():
        # A label in a script that the font lacks is shown as boxes, and is whole in the tables.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def add_line(
    parent: Axes | Figure | SubFigure, xs: Sequence[float], ys: Sequence[float], **look: Any
) -> Line2D:
    """Add a line through points, with a gap at each that is not a number.

    Parameters
    ----------
    parent : Axes, Figure or SubFigure
        Of matplotlib.
    xs, ys : sequence of float
        The points, in the coordinates of the axes unless there is a `transform` in `look`.
    **look
        Properties of matplotlib's `Line2D`.
    """
    from matplotlib.lines import Line2D

    line = Line2D(xs, ys, **{"color": INK, "solid_capstyle": "butt", "clip_on": False, **look})
    parent.add_artist(line)
    return line


def name_rows(axes: Axes, middles: Sequence[float], names: Sequence[str]) -> None:
    """Write the names of rows to the left of axes.

    The ticks of an axis would do the same in three times the time, which counts with forty rows.
    """
    from matplotlib import rcParams

    axes.yaxis.set_visible(False)
    for middle, name in zip(middles, names, strict=True):
        axes.annotate(
            name,
            (0, middle),
            xycoords=("axes fraction", "data"),
            xytext=(-0.5, 0),
            textcoords="offset fontsize",
            ha="right",
            va="center_baseline",
            annotation_clip=False,
            fontsize=rcParams["font.size"] * LABEL / TEXT,
        )


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
    """Return the lines of a text; a word that is wider than a line is broken."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, bold=bold) <= width:
            lines[-1] = longer
            continue
        rest = word
        while rest:
            part = fitted(rest, size, width, bold=bold)
            length = len(rest) if part == rest else max(len(part) - 1, 1)
            lines.append(rest[:length])
            rest = rest[length:]
    return [line for line in lines if line]


@dataclass(frozen=True)
class Panel:
    """The part of a figure in which a chart is drawn."""

    figure: Figure | SubFigure
    width: float
    height: float
    heading: float
    """Height of the title and the note, at the top."""

    def add_axes(self) -> Axes:
        """Return axes without a frame; `place` gives them their place."""
        return self.figure.add_axes((0, 0, 1, 1), frameon=False)

    def place(self, axes: Axes, left: float, right: float, top: float, bottom: float) -> None:
        """Place axes with these margins to the heading and the edges."""
        across = self.width - left - right
        up = self.height - self.heading - top - bottom
        axes.set_position(
            (left / self.width, bottom / self.height, across / self.width, up / self.height)
        )

    def plot_transform(self, left: float, right: float, top: float, bottom: float) -> Transform:
        """Return the transform from the unit square to the place between these margins.

        It is for small charts of which a page has hundreds: axes of matplotlib take three times as
        long as all the lines and texts of such a chart.
        """
        from matplotlib.transforms import Bbox, BboxTransformTo

        plot = Bbox(
            [
                (left / self.width, bottom / self.height),
                (1 - right / self.width, 1 - (self.heading + top) / self.height),
            ]
        )
        return BboxTransformTo(plot) + self.figure.transSubfigure

    def add_text(self, x: float, y: float, text: str, **look: Any) -> None:
        """Add a line of text with its baseline `y` below the upper edge."""
        self.figure.text(x / self.width, 1 - y / self.height, text, va="baseline", **look)


@dataclass(frozen=True)
class Chart:
    """A picture with its words."""

    title: str
    """What is shown, and of which data set."""
    alt: str
    """The content in words, for those who do not see it."""
    plot_height: float
    """Height of the part below the heading, with its axis."""
    draw: Callable[[Panel], None]
    """Draws the part below the heading."""
    note: str = ""
    """A line below the title."""
    width: float = WIDTH

    @property
    def height(self) -> float:
        """The height with the heading."""
        return self._heading + self.plot_height

    @property
    def svg(self) -> str:
        """The chart as an element of a page; it needs no other file, and its text is text."""
        with style():
            return svg.element(self.figure(), self.title, self.alt)

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
        lines = self._title_lines
        figure.suptitle(
            "\n".join(lines),
            x=0,
            y=1 - (_FIRST_LINE + (len(lines) - 1) * TITLE * _LEADING) / self.height,
            ha="left",
            va="baseline",
            linespacing=_LEADING,
        )
        if self.note:
            note = fitted(self.note, TEXT, self.width)
            panel.add_text(0, self._heading - _BELOW_NOTE, note, color=QUIET)
        self.draw(panel)

    @property
    def _heading(self) -> float:
        lines = len(self._title_lines)
        return _BELOW_NOTE + TITLE * _LEADING * lines + (_NOTE if self.note else 0)

    @functools.cached_property
    def _title_lines(self) -> list[str]:
        lines = wrapped(self.title, TITLE, self.width, bold=True)
        kept = lines[:_TITLE_LINES]
        if lines[_TITLE_LINES:]:
            kept[-1] = fitted(f"{kept[-1]} {lines[_TITLE_LINES]}", TITLE, self.width, bold=True)
        return kept
