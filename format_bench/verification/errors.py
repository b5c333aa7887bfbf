"""Errors of floats that came back changed: the greatest, and of mean, extremes and gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class Errors:
    """Errors of an array that comes in parts.

    Means, extremes and gradients are of finite values alone.
    """

    def __init__(self) -> None:
        self.absolute = 0.0
        """Greatest difference from a finite value."""
        self.relative = 0.0
        """Greatest share of its value that a difference has, of values that are not 0."""
        self.special = 0
        """NaN and infinities that came back as something else, or came back for another value."""
        self._count = 0
        self._sums = [0.0, 0.0]
        self._ends = [(math.inf, -math.inf)] * 2
        self._gradients = [0.0, 0.0]

    def add(self, saved: np.ndarray, read: np.ndarray) -> None:
        """Count the floats of a part, saved and read, of one shape."""
        import numpy as np

        before, after = saved.astype(np.float64), read.astype(np.float64)
        # Also of a NaN with another sign or payload: it is no other value.
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        finite = np.isfinite(before) & np.isfinite(after)
        self.special += int((~same & ~finite).sum())
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            change = np.where(finite, np.abs(after - before), 0.0)
            shares = np.divide(change, np.abs(before), out=np.zeros_like(change), where=before != 0)
        self.absolute = max(self.absolute, float(change.max(initial=0.0)))
        self.relative = max(self.relative, float(shares.max(initial=0.0, where=finite)))
        self._count += int(finite.sum())
        for place, values in enumerate((before, after)):
            self._sums[place] += float(values.sum(where=finite))
            least, greatest = self._ends[place]
            self._ends[place] = (
                min(least, float(values.min(initial=math.inf, where=finite))),
                max(greatest, float(values.max(initial=-math.inf, where=finite))),
            )
        for axis in range(before.ndim):
            with np.errstate(over="ignore", invalid="ignore"):
                steps, others = np.diff(before, axis=axis), np.diff(after, axis=axis)
                usual = np.isfinite(steps) & np.isfinite(others)
                self._gradients[0] += float(np.square(others - steps).sum(where=usual))
                self._gradients[1] += float(np.square(steps).sum(where=usual))

    @property
    def _range(self) -> float:
        """Greatest less least saved value; 1 if they are equal, or missing."""
        least, greatest = self._ends[0]
        return greatest - least if greatest > least else 1.0

    @property
    def mean(self) -> float:
        """Change of the mean, as a share of the range."""
        saved, read = self._sums
        return abs(read - saved) / max(1, self._count) / self._range

    @property
    def extremes(self) -> float:
        """Greater change of the least and of the greatest value, as a share of the range."""
        if not self._count:
            return 0.0
        saved, read = self._ends
        return max(abs(one - other) for one, other in zip(saved, read, strict=True)) / self._range

    @property
    def gradients(self) -> float:
        """Root mean square change of differences of neighbours, by that of the differences."""
        changed, whole = self._gradients
        return math.sqrt(changed / whole) if whole else 0.0

    def by_metric(self) -> dict[str, float]:
        """Return all errors by the names of their metrics."""
        return {
            "greatest absolute error": self.absolute,
            "greatest relative error": self.relative,
            "error of the mean": self.mean,
            "error of extremes": self.extremes,
            "error of gradients": self.gradients,
            "changed special values": float(self.special),
        }
