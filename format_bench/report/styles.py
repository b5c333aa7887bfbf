"""How the shapes of a drawing look, by their role in it."""

from __future__ import annotations

from dataclasses import dataclass


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
