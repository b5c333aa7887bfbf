"""Regression of values on profiles of tables, with errors of leaving one table out.

Times grow about in proportion to the number of cells of a table, and sizes to its bytes in memory, so
that the logarithm of that proportion is regressed, by a Gaussian process (C. E. Rasmussen, C. K. I.
Williams: Gaussian Processes for Machine Learning, 2006, chapter 2). Its kernel is the sum of a linear
and a squared exponential one, since a few dozens of tables lie far apart. The residuals of leaving each
table out follow from one inversion (chapter 5.4.2), and are the error that a prediction names.

A prediction is arithmetic on the numbers of a fit: `FORMULAS`, which a page has in JavaScript, by the
translation of `format_bench.recommendation.formulas`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import fmean as mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from format_bench.prediction.table_profile import TableProfile

    Floats = NDArray[np.float64]

FEWEST_TABLES = 4
"""Least number of tables with a value for an estimate of the error."""

# Variances of the parts of a logarithm to the base of e: chosen before any measurement. The linear part
# may span orders of magnitude, tables that are alike differ by a third, and measurements by a tenth.
LINEAR, LOCAL, _NOISE = 1.0, 0.3, 0.02

# Quantile of the residuals of leaving one out that an error is.
ERROR_QUANTILE = 0.8


def scaled(value: float, centre: float, weight: float) -> float:
    """Return a property in units of its spread over the measured tables."""
    return (value - centre) * weight


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the distance of two tables by their scaled properties; 1 is usual."""
    return sqrt(mean((a - b) * (a - b) for a, b in zip(one, other, strict=True)))


def covariance(one: Sequence[float], other: Sequence[float], linear: float, local: float) -> float:
    """Return the covariance of the values of two tables by their scaled properties."""
    return linear * mean(a * b for a, b in zip(one, other, strict=True)) + local / exp(
        mean((a - b) * (a - b) for a, b in zip(one, other, strict=True)) / 2
    )


def log_value(centre: float, covariances: Sequence[float], weights: Sequence[float]) -> float:
    """Return the logarithm of a value in proportion, by the weights of a fit."""
    return centre + sum(each * weight for each, weight in zip(covariances, weights, strict=True))


FORMULAS: tuple[Callable[..., Any], ...] = (scaled, distance, covariance, log_value)


@dataclass(frozen=True)
class Fit:
    """Regression of one value on the profiles of the tables that have it."""

    centre: float
    """Mean of the natural logarithms of the values in proportion."""
    weights: list[float]
    """Weight of the covariance with each table, 0 without a value; shape (tables,)."""
    error: float
    """Absolute difference of logarithms that four of five tables did not exceed when they were left
    out."""


class Neighbourhood:
    """Profiles of measured tables, scaled so that each property counts alike.

    Parameters
    ----------
    profiles : sequence of TableProfile
        The tables.
    """

    def __init__(self, profiles: Sequence[TableProfile]) -> None:
        import numpy as np

        self.names = list(profiles[0].features)
        found = np.array([[each.features[name] for name in self.names] for each in profiles])
        self.centre: list[float] = found.mean(axis=0).tolist()
        # A property that all tables share cannot say which of them resembles another one.
        self.weights = [1 / spread if spread > 0 else 0.0 for spread in found.std(axis=0).tolist()]
        self.places = [self.place(each) for each in profiles]
        self._covariances = np.array([self.covariances(each) for each in self.places])
        self._inverses: dict[tuple[int, ...], Floats] = {}

    def place(self, profile: TableProfile) -> list[float]:
        """Return the scaled properties of a table."""
        values = [profile.features[name] for name in self.names]
        return list(map(scaled, values, self.centre, self.weights))

    def distances(self, place: Sequence[float]) -> list[float]:
        """Return the distance of each table from another one."""
        return [distance(place, each) for each in self.places]

    def covariances(self, place: Sequence[float]) -> list[float]:
        """Return the covariance of each table with another one."""
        return [covariance(place, each, LINEAR, LOCAL) for each in self.places]

    def fit(self, logs: Mapping[int, float]) -> Fit | None:
        """Return the regression of values of some tables.

        Parameters
        ----------
        logs : mapping of int to float
            Logarithms of values in proportion, by the number of the table.

        Returns
        -------
        Fit or None
            None of fewer values than `FEWEST_TABLES`.
        """
        import numpy as np

        if len(logs) < FEWEST_TABLES:
            return None
        chosen = [*logs]
        values = np.array([logs[each] for each in chosen])
        inverse, centre = self._inverse(chosen), values.mean()
        found = inverse @ (values - centre)
        residuals = np.abs(found / np.diag(inverse))
        weights = np.zeros(len(self.places))
        weights[chosen] = found
        error = float(np.quantile(residuals, ERROR_QUANTILE))
        return Fit(float(centre), weights.tolist(), error)

    def _inverse(self, chosen: Sequence[int]) -> Floats:
        import numpy as np

        # Most values are of the same tables.
        key = tuple(chosen)
        if key not in self._inverses:
            noise = _NOISE * np.eye(len(chosen))
            found = np.linalg.inv(self._covariances[np.ix_(chosen, chosen)] + noise)
            self._inverses[key] = np.asarray(found, np.float64)
        return self._inverses[key]
