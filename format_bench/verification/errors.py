"""Errors of floats that came back changed: the greatest, and of mean, extremes and gradients."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# Squares and sums of greater doubles may be infinite, and long doubles have room for them.
_LARGE = 1e150


class Errors:
    """Errors of an array that comes in parts.

    Means, extremes and gradients are of values alone that are finite before and after.
    """

    def __init__(self) -> None:
        self._absolute: Any = 0.0
        self._relative: Any = 0.0
        self._special = self._count = 0
        self._sums: list[Any] = [0.0, 0.0]
        self._ends: list[tuple[Any, Any]] = [(math.inf, -math.inf)] * 2
        self._gradients: list[Any] = [0.0, 0.0]

    def add(self, saved: np.ndarray, read: np.ndarray) -> None:
        """Count the floats of a part, saved and read, of one shape."""
        import numpy as np

        before, after = saved.astype(np.float64), read.astype(np.float64)
        finite = np.isfinite(before) & np.isfinite(after)
        # A NaN with another sign or payload is no other value.
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        self._special += int((~same & ~finite).sum())
        before, after = (np.where(finite, each, 0.0) for each in (before, after))
        if max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0)) > _LARGE:
            before, after = before.astype(np.longdouble), after.astype(np.longdouble)
        size, change = np.abs(before), np.abs(after - before)
        shares = np.divide(change, size, out=np.zeros_like(change), where=size > 0)
        self._absolute = max(self._absolute, change.max(initial=0.0))
        self._relative = max(self._relative, shares.max(initial=0.0))
        self._count += int(finite.sum())
        for place, values in enumerate((before, after)):
            self._sums[place] += values.sum()
            least, greatest = self._ends[place]
            self._ends[place] = (
                min(least, values.min(initial=math.inf, where=finite)),
                max(greatest, values.max(initial=-math.inf, where=finite)),
            )
        for axis in range(before.ndim):
            steps, others = np.diff(before, axis=axis), np.diff(after, axis=axis)
            edge = finite.shape[axis]
            both = finite.take(range(1, edge), axis) & finite.take(range(edge - 1), axis)
            self._gradients[0] += np.square(others - steps).sum(where=both)
            self._gradients[1] += np.square(steps).sum(where=both)

    def by_metric(self) -> dict[str, float]:
        """Return all errors by the names of their metrics.

        Absolute errors are in the unit of the data, relative ones of values that are not 0. Errors of
        mean and extremes are shares of the range. The error of gradients is the root mean square change
        of differences between neighbours, as a share of the root mean square difference.
        """
        (least, greatest), read = self._ends
        changed, whole = self._gradients
        between = greatest - least if greatest > least else 1.0
        ends = (abs(one - other) for one, other in zip((least, greatest), read, strict=True))
        found = {
            "greatest absolute error": self._absolute,
            "greatest relative error": self._relative,
            "error of the mean": abs(self._sums[1] - self._sums[0]) / max(1, self._count) / between,
            "error of extremes": max(ends) / between if self._count else 0.0,
            "error of gradients": (changed / whole) ** 0.5 if whole else 0.0,
            "changed special values": self._special,
        }
        # Results have no infinite values.
        return {name: min(float(value), sys.float_info.max) for name, value in found.items()}
