"""Regression of values on profiles of tables, with errors of leaving one table out.

Times grow about in proportion to the number of cells of a table, and sizes to its bytes in memory, so
that the logarithm of that proportion is regressed, by a Gaussian process (C. E. Rasmussen, C. K. I.
Williams: Gaussian Processes for Machine Learning, 2006, chapter 2). Its kernel is the sum of a linear
and a squared exponential one, since a few dozens of tables lie far apart. The residuals of leaving each
table out follow from one inversion (chapter 5.4.2), and are the error that a prediction names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from format_bench.prediction.table_profile import TableProfile

    Floats = NDArray[np.float64]

FEWEST_TABLES = 4
"""Tables with a value, below which nothing can be said of the error."""

# Variances of the parts of a logarithm to the base of e: chosen before any measurement. The linear part
# may span orders of magnitude, tables that are alike differ by a third, and measurements by a tenth.
_LINEAR, _LOCAL, _NOISE = 1.0, 0.3, 0.02

# Quantile of the residuals of leaving one out that an error is.
ERROR_QUANTILE = 0.8


@dataclass(frozen=True)
class Predicted:
    """A predicted value, as its natural logarithm."""

    log: float
    error: float
    """Absolute difference that four of five tables did not exceed when they were left out."""


class Neighbourhood:
    """Profiles of measured tables, scaled so that each property counts alike.

    Parameters
    ----------
    profiles : sequence of TableProfile
        The tables.
    """

    def __init__(self, profiles: Sequence[TableProfile]) -> None:
        import numpy as np

        self._names = list(profiles[0].features)
        found = self._raw(profiles)
        self._centre = found.mean(axis=0)
        spread = found.std(axis=0)
        # A property that all tables share cannot say which of them resembles another one.
        self._scale = np.where(spread > 0, spread, np.inf)
        self._places = self._scaled(found)

    def _raw(self, profiles: Sequence[TableProfile]) -> Floats:
        import numpy as np

        return np.array([[each.features[name] for name in self._names] for each in profiles])

    def _scaled(self, raw: Floats) -> Floats:
        found: Floats = (raw - self._centre) / self._scale
        return found

    def distances(self, profile: TableProfile) -> Floats:
        """Return the distance of each table from another one, shape (tables,); 1 is usual."""
        import numpy as np

        place = self._scaled(self._raw([profile]))
        found: Floats = np.sqrt(((self._places - place) ** 2).mean(axis=1))
        return found

    def predict(self, logs: Mapping[int, float], profile: TableProfile) -> Predicted | None:
        """Return the value of another table by the values of some tables.

        Parameters
        ----------
        logs : mapping of int to float
            Logarithms of values in proportion, by the number of the table.
        profile : TableProfile
            The other table.

        Returns
        -------
        Predicted or None
            The logarithm of the value in proportion; None of fewer than `FEWEST_TABLES`.
        """
        import numpy as np

        if len(logs) < FEWEST_TABLES:
            return None
        chosen = [*logs]
        known, values = self._places[chosen], np.array([logs[each] for each in chosen])
        centre = values.mean()
        inverse = np.linalg.inv(_kernel(known, known) + _NOISE * np.eye(len(chosen)))
        weights = inverse @ (values - centre)
        there = _kernel(self._scaled(self._raw([profile])), known)[0]
        residuals = np.abs(weights / np.diag(inverse))
        return Predicted(float(centre + there @ weights), float(np.quantile(residuals, ERROR_QUANTILE)))


def _kernel(one: Floats, other: Floats) -> Floats:
    """Return the covariances of tables, shape (len(one), len(other))."""
    import numpy as np

    number = one.shape[1]
    squares = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2) / number
    found: Floats = _LINEAR * (one @ other.T) / number + _LOCAL * np.exp(-squares / 2)
    return found
