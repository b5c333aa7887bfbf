"""A badge that tells how much the newest month changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.changes.templating import render
from format_bench.report.charts.drawing import width_of

if TYPE_CHECKING:
    from format_bench.changes.told import Told

_ROLE = "value"
"""The role whose size of text the badge has, 11 pixels."""
_PADDING = 6.0
LABEL = "changes this month"
NONE, SOME, FIRST = "#2e7d32", "#0b5fa5", "#5a606b"
"""The colour behind the number; white text on it has a contrast of 4.5:1 or more."""


def badge(told: Told) -> str:
    """Return a badge as SVG, as in "changes this month: 2"."""
    number = len(told.newest)
    known = len(told.line.points) > 1
    value = str(number) if known else "first run"
    left, right = (width_of(text, _ROLE) + 2 * _PADDING for text in (LABEL, value))
    colour = (SOME if number else NONE) if known else FIRST
    return render("badge.svg", label=LABEL, value=value, left=left, right=right, colour=colour)
