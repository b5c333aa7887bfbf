"""A chart as shapes on a sheet, from which every output is made: the same picture in each."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from format_bench.report.styles import STYLES

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
