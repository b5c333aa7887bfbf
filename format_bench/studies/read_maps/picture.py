"""Picture of maps of reads: a strip for each format, in the manner of Figure 5 of Blomer (ACAT 2017).

Left to right is the file, top to bottom the order of the requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.files import write_atomically
from format_bench.instruments.read_map import Method, ReadMap
from format_bench.report.charts.figures import (
    FAINT,
    INK,
    LABEL,
    QUIET,
    TEXT,
    Chart,
    Panel,
    fitted,
    style,
    width_of,
)
from format_bench.results.display.text import quantity
from format_bench.studies.read_maps.shares import UNITS

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.path import Path as Outline

    from format_bench.studies.read_maps.mapping import Data, Mapped

WIDTH = 800.0
NAME_WIDTH, SHARE_WIDTH, REQUESTS_WIDTH = 170.0, 62.0, 78.0
HEAD, BAND, STRIP, GAP, FOOT = 22.0, 6.0, 24.0, 9.0, 46.0

ROW = BAND + 1 + STRIP + GAP

# Cells of a strip: places in the file, and turns of requests.
PLACES, TURNS = 480, 12


@dataclass(frozen=True)
class Shade:
    """Colour of places by the number of times that they were read."""

    name: str
    least: int
    colour: str


# Distinguishable for colour-blind people, after M. Okabe and K. Ito, "Color Universal Design" (2008),
# and darker the more often.
SHADES = (
    Shade("once", 1, "#4FA3D9"),
    Shade("twice", 2, "#D98C00"),
    Shade("3 to 9 times", 3, "#B23A1E"),
    Shade("10 times or more", 10, "#000000"),
)
RESIDENT = Shade("in the page cache afterwards: an upper bound", 1, "#8b9099")


def cells_of(found: ReadMap) -> np.ndarray:
    """Return the number of times that each place had been read in each turn, shape (turns, places).

    Turns are equal numbers of requests, at most `TURNS`, and a single one by residency. A place counts
    as read if any of its bytes was. A cell has the largest `times_read` of its requests, or 0.
    """
    import numpy as np

    count = len(found.reads)
    turns = min(TURNS, max(count, 1)) if found.method is Method.EXACT else 1
    cells = np.zeros((turns, PLACES), np.int64)
    if count:
        scale = PLACES / found.file_bytes
        firsts = (found.places * scale).astype(int)
        lasts = ((found.places + found.reads["bytes"] - 1) * scale).astype(int)
        turn = np.arange(count) * turns // count
        # Rounded: a header of a few bytes that is read again does not count for a large read.
        times_read = np.rint(found.times_read).astype(int)
        steps = zip(turn.tolist(), firsts.tolist(), lasts.tolist(), times_read.tolist(), strict=True)
        for row, first, last, times in steps:
            part = cells[row, first : last + 1]
            np.maximum(part, times, out=part)
    return cells


def chart(data: Data, answers: Sequence[Mapped]) -> Chart:
    """Return the chart of the answers to one question; those without a map are left out."""
    drawn = [each for each in answers if each.map]
    asked = answers[0].asked
    title = f"Bytes read for {asked.phrase}: {data.name}, {data.size:,} {UNITS[data.family]}"
    note = "colours: times that a place had been read; below: the requests, from the first to the last"
    height = HEAD + len(drawn) * ROW + FOOT
    return Chart(title, words(drawn), height, lambda panel: _draw(panel, drawn), note, WIDTH)


def words(answers: Sequence[Mapped]) -> str:
    """Return the content of the picture in a sentence for each format."""
    return " ".join(f"{each.configuration}: {_in_words(each.map)}." for each in answers if each.map)


def _in_words(found: ReadMap) -> str:
    share = f"{found.share:.1%} of {quantity(found.file_bytes, 'bytes')}"
    if found.requests is None:
        return f"at most {share}"
    return f"{share} in {found.requests:,} requests"


def save(found: Chart, folder: Path, name: str) -> None:
    """Write the chart as `name`.svg and `name`.png into a folder."""
    with write_atomically(folder / f"{name}.svg") as temporary:
        temporary.write_text(found.svg + "\n", encoding="utf-8")
    with style(), write_atomically(folder / f"{name}.png") as temporary:
        figure = found.figure()
        figure.savefig(temporary, format="png", dpi=144, metadata={"Title": found.title})


def _draw(panel: Panel, answers: Sequence[Mapped]) -> None:
    right = SHARE_WIDTH + REQUESTS_WIDTH
    top = panel.heading + LABEL
    panel.add_text(NAME_WIDTH, top, "start of the file")
    panel.add_text(panel.width - right - 8, top, "end", ha="right")
    panel.add_text(panel.width - REQUESTS_WIDTH, top, "share", ha="right")
    panel.add_text(panel.width, top, "requests", ha="right")
    for number, each in enumerate(answers):
        if each.map:
            _draw_row(panel, HEAD + number * ROW, each, each.map)
    methods = {each.map.method for each in answers if each.map}
    shades = [
        *(SHADES if Method.EXACT in methods else ()),
        *([RESIDENT] if Method.RESIDENCY in methods else ()),
    ]
    x, y = NAME_WIDTH, panel.heading + HEAD + len(answers) * ROW + LABEL
    for shade in shades:
        panel.add_text(x, y, "■", color=shade.colour)
        panel.add_text(x + 14, y, shade.name)
        x += 34 + width_of(shade.name, TEXT)
    if any(each.sentence for each in answers):
        remark = "in grey: the format cannot read that part alone, so everything is read"
        panel.add_text(NAME_WIDTH, y + 18, remark)


def _draw_row(panel: Panel, top: float, answer: Mapped, found: ReadMap) -> None:
    middle = panel.heading + top + ROW / 2
    ink = QUIET if answer.sentence else INK
    name = fitted(str(answer.configuration), LABEL, NAME_WIDTH - 8)
    panel.add_text(0, middle - 3, name, color=ink, size=LABEL)
    panel.add_text(0, middle + 10, quantity(found.file_bytes, "bytes"), size=LABEL - 3)
    panel.add_text(panel.width - REQUESTS_WIDTH, middle, f"{found.share:.1%}", color=ink, ha="right")
    requests = "unknown" if found.requests is None else f"{found.requests:,}"
    panel.add_text(panel.width, middle, requests, color=ink, ha="right")
    cells = cells_of(found)
    shades = SHADES if found.method is Method.EXACT else (RESIDENT,)
    # All requests together, and below them their order.
    for above, height, shown in (
        (0.0, BAND, cells.max(axis=0, keepdims=True)),
        (BAND + 1, STRIP, cells),
    ):
        bottom = panel.height - panel.heading - top - above - height
        axes = panel.add_axes(NAME_WIDTH, SHARE_WIDTH + REQUESTS_WIDTH + 8, top + above, bottom)
        axes.set_axis_off()
        _paint(axes, shown, shades)


def _paint(axes: Axes, cells: np.ndarray, shades: Sequence[Shade]) -> None:
    from matplotlib.patches import PathPatch, Rectangle

    turns = len(cells)
    axes.set(xlim=(0, PLACES), ylim=(turns, 0))
    axes.add_patch(Rectangle((0, 0), PLACES, turns, facecolor=FAINT, linewidth=0))
    for shade, further in zip(shades, (*shades[1:], None), strict=True):
        inside = (cells >= shade.least) & (cells < further.least if further else True)
        if inside.any():
            axes.add_patch(PathPatch(_outline(inside), facecolor=shade.colour, linewidth=0))


def _outline(inside: np.ndarray) -> Outline:
    """Return a path around cells: a rectangle for each run in a turn."""
    import numpy as np
    from matplotlib.path import Path as Outline

    padded = np.pad(inside.astype(np.int8), ((0, 0), (1, 1)))
    turns, edges = np.nonzero(np.diff(padded, axis=1))
    corners = []
    for turn, (left, right) in zip(turns[::2].tolist(), edges.reshape(-1, 2).tolist(), strict=True):
        corners += [(left, turn), (right, turn), (right, turn + 1), (left, turn + 1), (left, turn)]
    codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY] * (len(corners) // 5)
    return Outline(corners, codes)
