"""The axis of a chart: where a value lies between its ends, and which values are marked on it.

What charts have around their bars and points: ticks, names, and which kind of axis it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from format_bench.report.charts.drawing import Drawing, Line, Text, fitted

LOGARITHMIC_RANGE = 20
"""From which ratio of the largest to the smallest value an axis is logarithmic: on a linear one the
smallest bar would be shorter than a twentieth of the longest, and its length could not be read."""

_MOST_TICKS = 4
_STEPS = (1, 2, 5)
_ROOM = 0.12
"""Length of the shortest bar on a logarithmic axis, as a share of the range of the values."""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`."""

    low: float
    high: float
    ticks: list[float]
    logarithmic: bool

    def place(self, value: float) -> float:
        """Return where a value lies, from 0 to 1; what is beyond an end is put there."""
        if self.logarithmic:
            if value <= self.low:
                return 0.0
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    @property
    def kind(self) -> str:
        """What stands at the axis."""
        return "logarithmic axis" if self.logarithmic else "linear axis"


def scale_of(values: Sequence[float], ends: Sequence[float] = ()) -> Scale:
    """Return a scale for values, with room for the ends of their intervals.

    It is linear, and has 0 on it, unless the positive values span `LOGARITHMIC_RANGE` and none is
    negative.
    """
    positive = [value for value in values if value > 0]
    high, low = max([*values, *ends, 0]), min([*values, *ends, 0])
    if min(values, default=0) >= 0 and positive and max(positive) >= LOGARITHMIC_RANGE * min(positive):
        start = min(positive) * (min(positive) / max(positive)) ** _ROOM
        return Scale(start, high, _logarithmic_ticks(start, high), logarithmic=True)
    if low == high:
        return Scale(0.0, 1.0, [0.0], logarithmic=False)
    return Scale(low, high, _linear_ticks(low, high), logarithmic=False)


def _linear_ticks(low: float, high: float) -> list[float]:
    decade = 10 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    for step in (decade * factor for factor in (*_STEPS, 10)):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < _MOST_TICKS:
            break
    return [number * step for number in range(first, last + 1)]


def _logarithmic_ticks(low: float, high: float) -> list[float]:
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    decades = [exponent for exponent in exponents if low <= 10.0**exponent <= high]
    if len(decades) > 1:
        stride = math.ceil(len(decades) / _MOST_TICKS)
        return [10.0**exponent for exponent in decades[::stride]]
    between = [step * 10.0**exponent for exponent in exponents for step in _STEPS]
    return [value for value in between if low <= value <= high]


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
