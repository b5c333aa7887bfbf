"""Picture of the codec grid: size against read time, a panel per format, a line per codec."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.codecs import algorithm_of
from adapter_core.files import write_atomically
from format_bench.report.charts.figures import QUIET, style
from format_bench.studies.codec_grid.tables import Cells, by_format

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Colours that colour-blind people can distinguish, after M. Okabe and K. Ito, "Color Universal Design"
# (2008), darkened to 3:1 against white as the report's are, since levels are written in them;
# and markers for those who see no colours.
_LOOKS = {
    "zstd": ("#0072B2", "o"),
    "gzip": ("#B07800", "s"),
    "lz4": ("#00875F", "^"),
    "lz4hc": ("#00875F", "v"),
    "snappy": ("#3A8FC4", "D"),
    "blosclz": ("#3A8FC4", "d"),
    "brotli": ("#C8553D", "P"),
    "lzo": ("#C8553D", "p"),
    "xz": ("#AA4499", "X"),
    "bzip2": ("#6B6B6B", "h"),
}
_OTHER = ("#666666", ".")
_UNCOMPRESSED = ("#000000", "*")

# By the library that applies the algorithm: the part of a codec's name before the colon.
_STROKES = {"": "-", "blosc": "--", "blosc2": ":", "file": "-."}

FILES = ("grid.svg", "grid.png")
NOTE = "Numbers are the lowest and the highest level; the lower left is best."

# Share of the uncompressed size, seconds, level.
Point = tuple[float, float, int | None]

COLUMNS = 2
DPI = 100
SCALE = 0.85
"""Size of text relative to the charts of the report."""
WIDTH, PANEL_HEIGHT = 10.0, 3.6

# Room of a number, as shares of a panel.
NUMBER_WIDTH, NUMBER_HEIGHT = 0.05, 0.05


def look(codec: str | None) -> tuple[str, str, str]:
    """Return colour, marker and stroke of a codec's line."""
    if codec is None:
        return *_UNCOMPRESSED, ""
    where = codec.rpartition(":")[0]
    return *_LOOKS.get(algorithm_of(codec), _OTHER), _STROKES.get(where, "-")


def draw(cells: Cells, title: str, out: Path) -> None:
    """Draw the cells that have values, and write the picture to `FILES` in a folder.

    Parameters
    ----------
    cells : dict
        Cells as `by_case` returns them.
    title : str
        Title with the table and its number of rows.
    out : Path
        An existing folder. Earlier pictures are replaced.
    """
    from matplotlib.figure import Figure

    panels = by_format(cells)
    columns = min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    with style(SCALE):
        figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * lines + 0.6), dpi=DPI, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        figure.supxlabel(NOTE, x=0.01, ha="left", color=QUIET, fontsize="medium")
        places = list(figure.subplots(lines, columns, squeeze=False).flat)
        for place, (label, found) in zip(places, panels.items(), strict=False):
            _panel(place, label, found)
        for place in places[len(panels) :]:
            place.set_axis_off()
        for name in FILES:
            with write_atomically(out / name) as temporary:
                figure.savefig(temporary, format=Path(name).suffix[1:], metadata={"Title": title})


def _panel(axes: Axes, label: str, cells: Cells) -> None:
    from matplotlib.ticker import EngFormatter

    axes.set_title(label, fontweight="bold", loc="left")
    axes.set_xlabel("size, share of the uncompressed size")
    axes.set_ylabel("warm read time")
    axes.yaxis.set_major_formatter(EngFormatter("s"))
    axes.tick_params(labelsize="medium", labelcolor=QUIET)
    axes.spines[["top", "right"]].set_visible(False)
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
        axes.plot(
            x, y, color=colour, marker=marker, linestyle=stroke, markersize=6, label=codec or "none"
        )
    axes.set_ylim(bottom=0)
    _number(axes, lines)
    if lines:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _number(axes: Axes, lines: dict[str | None, list[Point]]) -> None:
    """Write the levels at the ends of the lines, except those that would cover another."""
    to_share = axes.transData + axes.transAxes.inverted()
    taken: list[tuple[float, float]] = []
    for codec, points in lines.items():
        middle = (points[0][0] + points[-1][0]) / 2
        for x, y, level in dict.fromkeys([points[0], points[-1]]):
            # On the side away from the line.
            side = 1 if x > middle else -1
            across, up = to_share.transform((x, y))
            across += side * NUMBER_WIDTH / 2
            is_free = all(
                abs(across - a) >= NUMBER_WIDTH or abs(up - b) >= NUMBER_HEIGHT for a, b in taken
            )
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
