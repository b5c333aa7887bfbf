"""Colours, markers and strokes of the grid's lines: the same for a codec in all panels.

The grid as a picture: size against read time, a panel for each format, a line for each codec.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.files import write_atomically
from format_bench.studies.codec_grid.tables import Cells, by_format
from format_bench.studies.codec_grid.tracks import algorithm_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Colours that colour-blind people tell apart, after M. Okabe and K. Ito, "Color Universal Design"
# (2008), and markers for those who see none.
_LOOKS = {
    "zstd": ("#0072B2", "o"),
    "gzip": ("#E69F00", "s"),
    "lz4": ("#009E73", "^"),
    "lz4hc": ("#009E73", "v"),
    "snappy": ("#56B4E9", "D"),
    "blosclz": ("#56B4E9", "d"),
    "brotli": ("#D55E00", "P"),
    "lzo": ("#D55E00", "p"),
    "xz": ("#CC79A7", "X"),
    "bzip2": ("#999999", "h"),
}
_STRANGE = ("#666666", ".")
_PLAIN = ("#000000", "*")
_STROKES = {"": "-", "blosc": "--", "blosc2": ":", "file": "-."}
"""By what stands before the colon in a codec's name: who applies the algorithm."""


def look(codec: str | None) -> tuple[str, str, str]:
    """Return colour, marker and stroke of a codec's line."""
    if codec is None:
        return *_PLAIN, ""
    where = codec.rpartition(":")[0]
    return *_LOOKS.get(algorithm_of(codec), _STRANGE), _STROKES.get(where, "-")


FILES = ("grid.svg", "grid.png")

Point = tuple[float, float, int | None]
"""Share of the uncompressed size, seconds, level."""

COLUMNS = 2
DPI = 100
WIDTH, PANEL_HEIGHT = 10.0, 3.6
"""In inches; with DPI, a picture of 1000 pixels across."""
WIDE, HIGH = 0.05, 0.05
"""Room of a number, as shares of a panel."""


def draw(cells: Cells, title: str, out: Path) -> None:
    """Draw the cells that have values into the files of a folder.

    Parameters
    ----------
    cells : dict
        As `by_case` returns them.
    title : str
        Says which table was saved, and of how many rows.
    out : Path
        A folder that exists. Files of earlier pictures are replaced.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = by_format(cells)
    columns = min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    # Text stays text in SVG: smaller, and it can be found.
    with rc_context({"svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * lines + 0.6), dpi=DPI, layout="constrained")
        figure.suptitle(f"{title}\nnumbers are the lowest and the highest level; the lower left is best")
        places = list(figure.subplots(lines, columns, squeeze=False).flat)
        for place, (label, found) in zip(places, panels.items(), strict=False):
            _panel(place, label, found)
        for place in places[len(panels) :]:
            place.set_axis_off()
        for name in FILES:
            with write_atomically(out / name) as temporary:
                figure.savefig(temporary, format=Path(name).suffix[1:])


def _panel(axes: Axes, label: str, cells: Cells) -> None:
    from matplotlib.ticker import EngFormatter

    axes.set_title(label, fontweight="bold")
    axes.set_xlabel("size, share of the uncompressed size")
    axes.set_ylabel("warm read time")
    axes.yaxis.set_major_formatter(EngFormatter("s"))
    axes.grid(color="#e0e0e0")
    axes.set_axisbelow(True)
    # Room for the numbers.
    axes.margins(x=0.1, y=0.1)
    plain = next(iter(cells.values()))["size"].value
    lines: dict[str | None, list[Point]] = {}
    for case, row in cells.items():
        size, seconds = row["size"].value, row["read time"].value
        if size is not None and seconds is not None and plain:
            lines.setdefault(case.codec, []).append((size / plain, seconds, case.level))
    for codec, points in lines.items():
        x, y, _ = zip(*points, strict=True)
        colour, marker, stroke = look(codec)
        axes.plot(x, y, color=colour, marker=marker, linestyle=stroke, label=codec or "none")
    axes.set_ylim(bottom=0)
    _number(axes, lines)
    if lines:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _number(axes: Axes, lines: dict[str | None, list[Point]]) -> None:
    """Write the levels at the ends of the lines, except those that would cover another one."""
    to_share = axes.transData + axes.transAxes.inverted()
    taken: list[tuple[float, float]] = []
    for codec, points in lines.items():
        middle = (points[0][0] + points[-1][0]) / 2
        for x, y, level in dict.fromkeys([points[0], points[-1]]):
            # On the side on which the line does not go on.
            side = 1 if x > middle else -1
            across, up = to_share.transform((x, y))
            across += side * WIDE / 2
            is_free = all(abs(across - a) >= WIDE or abs(up - b) >= HIGH for a, b in taken)
            if level is not None and is_free:
                taken.append((across, up))
                axes.annotate(
                    str(level),
                    (x, y),
                    xytext=(6 * side, 0),
                    textcoords="offset points",
                    horizontalalignment="left" if side > 0 else "right",
                    verticalalignment="center",
                    color=look(codec)[0],
                )
