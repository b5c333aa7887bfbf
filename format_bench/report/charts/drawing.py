"""How the shapes of a drawing look, by their role in it.

A chart as shapes on a sheet, from which every output is made: the same picture in each.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Style:
    """How the shapes of one role look. Sizes are in pixels of 1/96 inch."""

    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.0
    dash: float = 0.0
    """Length of dashes and gaps; 0 for none."""
    size: float = 0.0
    """Of text."""
    anchor: str = "start"
    """Which part of a text lies at its place: "start", "middle" or "end"."""
    bold: bool = False
    italic: bool = False
    halo: float = 0.0
    """Width of a border in the colour of the paper around text that may cross lines."""


PAPER, INK, QUIET, FAINT, ACCENT = "#ffffff", "#1d2025", "#5a606b", "#e4e5e0", "#0b5d3b"

STYLES = {
    "grid": Style(stroke=FAINT, stroke_width=1),
    "bar": Style(),
    "cold": Style(fill=PAPER, stroke_width=1.2),
    "axis": Style(stroke="#8b9099", stroke_width=1),
    "front": Style(stroke=QUIET, stroke_width=1.3, dash=4),
    "leader": Style(stroke=QUIET, stroke_width=0.7),
    "halo": Style(stroke=PAPER, stroke_width=2.2),
    "whisker": Style(stroke=INK, stroke_width=1.2),
    "point": Style(stroke=PAPER, stroke_width=1),
    "title": Style(fill=INK, size=14.5, bold=True),
    "note": Style(fill=QUIET, size=11),
    "label": Style(fill=INK, size=12, anchor="end"),
    "value": Style(fill=QUIET, size=11),
    "best": Style(fill=ACCENT, size=11, bold=True),
    "tie": Style(fill=ACCENT, size=11),
    "empty": Style(fill=QUIET, size=11, italic=True),
    "tick": Style(fill=QUIET, size=10.5, anchor="middle"),
    "side tick": Style(fill=QUIET, size=10.5, anchor="end"),
    "point label": Style(fill=QUIET, size=11, halo=3),
    "front label": Style(fill=INK, size=11, bold=True, halo=3),
    "cell": Style(fill=INK, size=11, anchor="middle"),
    "heading": Style(fill=INK, size=22, bold=True),
    "subheading": Style(fill=INK, size=15, bold=True),
    "body": Style(fill=INK, size=11.5),
    "small": Style(fill=QUIET, size=9),
    "best cell": Style(fill=ACCENT, size=11, anchor="middle", bold=True),
}
"""In the order in which they are painted."""


WIDTH = 380.0
"""Of charts, in pixels: so wide that they fit on a phone, and their text keeps its size."""


@dataclass(frozen=True)
class Rectangle:
    """Its upper left corner is at `x`, `y`."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    tip: str = ""
    """What is shown when the pointer rests on it."""


@dataclass(frozen=True)
class Circle:
    """Its centre is at `x`, `y`."""

    x: float
    y: float
    radius: float
    colour: str
    tip: str = ""


@dataclass(frozen=True)
class Line:
    """Through all points."""

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Text:
    """On one line, its baseline at `y`."""

    x: float
    y: float
    text: str


Shape = Rectangle | Circle | Line | Text


@dataclass
class Drawing:
    """A sheet with shapes; `x` to the right and `y` downwards from its upper left corner."""

    width: float
    height: float
    shapes: dict[str, list[Shape]] = field(default_factory=lambda: {role: [] for role in STYLES})
    """By role, one of `STYLES`."""

    def add(self, role: str, *shapes: Shape) -> None:
        """Put shapes on the sheet."""
        self.shapes[role].extend(shapes)


def width_of(text: str, role: str) -> float:
    """Return about how wide a text is in a usual sans-serif font, rather too much."""
    style = STYLES[role]
    return style.size * sum(map(_ems, text)) * (1.1 if style.bold else 1)


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "ijl.,:;|![]()'":
        return 0.36
    return 0.78 if character.isupper() or character in "mwMW%" else 0.62


def fitted(text: str, role: str, width: float) -> str:
    """Return a text, shortened where it would be wider than allowed."""
    if width_of(text, role) <= width:
        return text
    while text and width_of(f"{text}…", role) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"
