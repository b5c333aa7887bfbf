"""What charts have around their bars and points: ticks, names, and which kind of axis it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.report.drawing import Line, Text, fitted

if TYPE_CHECKING:
    from format_bench.report.drawing import Drawing
    from format_bench.report.scale import Scale

_NAME_GAP = 6.0


@dataclass(frozen=True)
class Plot:
    """The part of a sheet that bars or points are in, and its horizontal axis."""

    left: float
    right: float
    top: float
    bottom: float
    scale: Scale

    def x(self, value: float) -> float:
        """Return where a value lies on the sheet."""
        return self.left + (self.right - self.left) * self.scale.place(value)


def add_value_axis(
    drawing: Drawing, plot: Plot, show: Callable[[float], str], *, both: bool = False, name: str = ""
) -> None:
    """Add the horizontal axis below a plot; its ticks also above it, if asked for."""
    for tick in plot.scale.ticks:
        x, text = plot.x(tick), show(tick)
        drawing.add("grid", Line(((x, plot.top), (x, plot.bottom))))
        drawing.add("tick", Text(x, plot.bottom + 14, text))
        if both:
            drawing.add("tick", Text(x, plot.top - 5, text))
    drawing.add("axis", Line(((plot.x(0), plot.top), (plot.x(0), plot.bottom))))
    middle = (plot.left + plot.right) / 2
    drawing.add("tick", Text(middle, plot.bottom + 29, ", ".join(filter(None, (name, plot.scale.kind)))))


def add_name(drawing: Drawing, plot: Plot, y: float, name: str) -> None:
    """Add the name of a row at the left of a plot, its middle at `y`."""
    room = plot.left - _NAME_GAP
    drawing.add("label", Text(room, y + 4, fitted(name, "label", room)))
