"""Cost model of queries: seconds for amounts of work, fitted to measured reads.

The time of a query is a sum of amounts times the seconds for one of each. Terms and amounts are a
family's: `chunk_search` has the ones of arrays in chunks, `layout_cost` of tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# Median relative error of predictions of held-back reads above which a model does not count. Models of
# the seven stores err by 4 to 31 % (docs/planning.md).
MOST_ERROR = 0.5

# Huber's 1.345 standard deviations, of which the median absolute error is 0.6745.
_HUBER, _ITERATIONS = 1.345 / 0.6745, 6

# Layouts without which no model is fitted: one of them is held back.
LEAST_LAYOUTS = 3


@dataclass(frozen=True)
class ReadSample:
    """Measured time of a query to a layout."""

    amounts: Sequence[float]
    """One for each term."""
    layout: Hashable
    """Bytes that are held back at once."""
    seconds: float


@dataclass(frozen=True)
class CostModel:
    """Seconds for one of each term, with the errors of predictions."""

    coefficients: tuple[float, ...]
    median_error: float
    """Median relative error of the predictions of reads whose layout was held back."""
    r_squared: float
    """Of the logarithms of the times of the same reads."""
    reads: int
    """Number of reads."""

    @property
    def fits(self) -> bool:
        """True if predictions are near enough to choose layouts by them."""
        return self.median_error <= MOST_ERROR

    def seconds(self, amounts: Any) -> np.ndarray:
        """Return the predicted times of amounts of work, shape (..., terms)."""
        import numpy as np

        return np.asarray(amounts) @ np.array(self.coefficients)


def fit(samples: Sequence[ReadSample]) -> CostModel | None:
    """Return the model of measured reads by least squares of relative errors without negative terms.

    Each layout is held back once: its reads are predicted by the model of the others.

    Parameters
    ----------
    samples : sequence of ReadSample
        Reads of the same store and data.

    Returns
    -------
    CostModel or None
        None if fewer than `LEAST_LAYOUTS` layouts were read.
    """
    import numpy as np

    layouts = list(dict.fromkeys(each.layout for each in samples))
    if len(layouts) < LEAST_LAYOUTS:
        return None
    rows = np.array([each.amounts for each in samples], float)
    times = np.array([each.seconds for each in samples])
    layout_of_row = np.array([layouts.index(each.layout) for each in samples])
    predicted = np.empty_like(times)
    for number in range(len(layouts)):
        held = layout_of_row == number
        predicted[held] = rows[held] @ _solve(rows[~held], times[~held])
    logs, errors = np.log(times), np.log(np.maximum(predicted, 1e-9)) - np.log(times)
    spread = float(((logs - logs.mean()) ** 2).sum())
    return CostModel(
        tuple(_solve(rows, times).tolist()),
        float(np.median(np.abs(predicted / times - 1))),
        1 - float((errors**2).sum()) / spread if spread else 0.0,
        len(samples),
    )


def _solve(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return coefficients that are not negative; rows are divided by their times.

    Reads that noise has made far slower count less: their weights are Huber's (1964), by iteration.
    """
    import numpy as np
    from scipy.optimize import nnls  # type: ignore[import-untyped]

    relative = rows / times[:, None]
    scale = np.maximum(np.linalg.norm(relative, axis=0), 1e-300)
    weights = np.ones(len(times))
    found = np.zeros(rows.shape[1])
    for _ in range(_ITERATIONS):
        found, _ = nnls(relative / scale * weights[:, None], weights)
        errors = np.abs(relative @ (found / scale) - 1)
        usual = max(float(np.median(errors)) * _HUBER, 1e-9)
        weights = np.sqrt(np.minimum(1, usual / np.maximum(errors, 1e-12)))
    return np.asarray(found / scale)
