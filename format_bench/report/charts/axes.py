"""Value axes of charts: linear or logarithmic, with few ticks that carry their unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Locator


# From which ratio of the largest to the smallest value an axis is logarithmic: on a linear one the
# smallest bar would be shorter than a twentieth of the longest, and its length could not be read.
LOGARITHMIC_RANGE = 20

_MOST_TICKS = 4
# Length of the shortest bar on a logarithmic axis, as a share of the range of the values.
_ROOM = 0.12


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`."""

    low: float
    high: float
    logarithmic: bool
    whole: bool = False
    """Whether the values are counts, which have no ticks between whole numbers."""

    @property
    def kind(self) -> str:
        """The kind in words, for the label of the axis."""
        return "logarithmic axis" if self.logarithmic else "linear axis"

    @property
    def origin(self) -> float:
        """The base value of bars."""
        return self.low if self.logarithmic else 0.0

    @cached_property
    def ticks(self) -> list[float]:
        """The labelled values, one at least."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        locator: Locator
        if self.logarithmic:
            decades = math.floor(math.log10(self.high)) - math.ceil(math.log10(self.low)) + 1
            # With a single power of ten on it, an axis could not be read.
            subs = (1.0,) if decades > 1 else (1.0, 2.0, 5.0)
            locator = LogLocator(subs=subs, numticks=_MOST_TICKS + 1)
        else:
            locator = MaxNLocator(_MOST_TICKS, steps=[1, 2, 5, 10], integer=self.whole)
        found = map(float, locator.tick_values(self.low, self.high))
        return [tick for tick in found if self.low <= tick <= self.high]

    def clip(self, value: float) -> float:
        """Return the nearest value on the axis, e.g. for 0 on a logarithmic one."""
        return min(max(value, self.low), self.high)

    def place(self, value: float) -> float:
        """Return the place of a value on the axis, from 0 to 1; of one beyond an end, the end."""
        value = self.clip(value)
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def scale_of(values: Sequence[float], ends: Sequence[float] = (), *, whole: bool = False) -> Scale:
    """Return the scale of an axis for values, with room for the ends of their intervals.

    It is linear and includes 0, unless the positive values span `LOGARITHMIC_RANGE` and none is
    negative.
    """
    positive = [value for value in values if value > 0]
    high, low = max([*values, *ends, 0]), min([*values, *ends, 0])
    if min(values, default=0) >= 0 and positive and max(positive) >= LOGARITHMIC_RANGE * min(positive):
        start = min(positive) * (min(positive) / max(positive)) ** _ROOM
        return Scale(start, high, logarithmic=True)
    return Scale(low, high if high > low else 1.0, logarithmic=False, whole=whole)


def set_scale(axes: Axes, which: Literal["x", "y"], scale: Scale, show: Callable[[float], str]) -> None:
    """Set the scale and ticks of an axis.

    Parameters
    ----------
    axes : Axes
        Of matplotlib.
    which : {"x", "y"}
        The axis.
    scale : Scale
        Its ends and kind.
    show : callable
        Returns the text of a tick.
    """
    kind = "log" if scale.logarithmic else "linear"
    axes.set(**{f"{which}scale": kind, f"{which}lim": (scale.low, scale.high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks([], minor=True)
    axis.set_ticks(scale.ticks, [show(tick) for tick in scale.ticks])
