"""Drawings as figures of matplotlib, for what is not a page: pictures and PDF.

The report as pictures: a PNG for each chart and each heat map.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adapter_core.files import write_atomically
from format_bench.report.charts import heat_map
from format_bench.report.charts.build import charts_of
from format_bench.report.charts.drawing import PAPER, STYLES, Circle, Drawing, Line, Shape, Style, Text
from format_bench.report.charts.heat_map import heat_maps
from format_bench.report.model import outline_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from format_bench.results.load import Results


PIXELS_PER_INCH = 96
_POINT = 0.75
"""Pixels to points: 72 points and 96 pixels are an inch."""

_ALIGNMENTS: dict[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Hold, while a figure is made and written, what text of any kind needs."""
    from matplotlib import rc_context

    # No dollar sign begins a formula, and text in PDF is text.
    with rc_context({"text.parse_math": False, "pdf.fonttype": 42}), warnings.catch_warnings():
        # A label in a script that the font lacks is shown as boxes, and is whole in the tables.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure, and axes with pixels from its upper left corner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / PIXELS_PER_INCH, height / PIXELS_PER_INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    return figure, axes


def paint(drawing: Drawing, axes: Axes, x: float = 0, y: float = 0, scale: float = 1) -> None:
    """Paint a drawing with its upper left corner at `x`, `y` of a sheet, so many times its size."""
    for order, (role, shapes) in enumerate(drawing.shapes.items(), start=1):
        for shape in shapes:
            artist = _artist(shape, STYLES[role], x, y, scale)
            artist.set_zorder(order)
            artist.set_clip_on(False)
            axes.add_artist(artist)


def _artist(shape: Shape, style: Style, x: float, y: float, scale: float) -> Artist:
    from matplotlib import lines, patches

    width = style.stroke_width * scale * _POINT
    if isinstance(shape, Text):
        return _text(shape, style, x, y, scale)
    if isinstance(shape, Line):
        xs, ys = ([at + scale * point[axis] for point in shape.points] for axis, at in ((0, x), (1, y)))
        line = lines.Line2D(xs, ys, color=style.stroke, linewidth=width)
        line.set_dashes([style.dash, style.dash] if style.dash else [])
        return line
    corner = (x + scale * shape.x, y + scale * shape.y)
    look: dict[str, Any] = {
        "facecolor": style.fill or shape.colour,
        "edgecolor": style.stroke or (shape.colour if width else "none"),
        "linewidth": width,
    }
    if isinstance(shape, Circle):
        return patches.Circle(corner, scale * shape.radius, **look)
    return patches.Rectangle(corner, scale * shape.width, scale * shape.height, **look)


def _text(shape: Text, style: Style, x: float, y: float, scale: float) -> Artist:
    from matplotlib.text import Text as Label

    label = Label(
        x + scale * shape.x,
        y + scale * shape.y,
        shape.text,
        color=style.fill,
        fontsize=style.size * scale * _POINT,
        fontweight="bold" if style.bold else "normal",
        fontstyle="italic" if style.italic else "normal",
        horizontalalignment=_ALIGNMENTS[style.anchor],
        verticalalignment="baseline",
    )
    if style.halo:
        # A stroke around it would turn text into outlines.
        label.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": style.halo * scale * _POINT / 4})
    return label


DOTS_PER_INCH = 1.5 * PIXELS_PER_INCH
"""Sharp on screens with more than one dot a pixel."""

_MARGIN = 12.0


def write(results: Results, folder: Path) -> None:
    """Write pictures into a folder, which is made if missing; those of the same names are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    with settings():
        for number, (name, drawing) in enumerate(drawings(results), start=1):
            width, height = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN
            figure, axes = sheet(width, height)
            paint(drawing, axes, _MARGIN, _MARGIN)
            with write_atomically(folder / f"{number:03}-{_slug(name)}.png") as temporary:
                figure.savefig(temporary, format="png", dpi=DOTS_PER_INCH)


def drawings(results: Results) -> Iterator[tuple[str, Drawing]]:
    """Yield all drawings of a report with their names: of each family first the heat maps."""
    outline = outline_of(results)
    for family in outline.families:
        for each in heat_maps(family, outline.floors):
            yield f"{family.title} {each.title} heat map", heat_map.draw(each)
        for group in family.groups:
            for chart in charts_of(group, outline.colours, outline.floors):
                yield f"{family.title} {chart.title}", chart.drawing


def _slug(name: str) -> str:
    """Return a name that any file system takes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "chart"
