"""Cost model of queries to chunked arrays, fitted to measured reads.

The time of a query is a sum of amounts times the seconds for one of each::

    seconds = a + chunks touched * b + bytes decoded * c + bytes delivered * d
              + runs copied * e + chunks of the array * f

All touched chunks are decoded as a whole. A run is a piece of values that is contiguous both
in a chunk and in the answer: many short ones take longer to copy than a long one. The last term is for
stores that read facts on all chunks when they open. A cold query asks the storage for each chunk once,
so b includes a request then.

The number of chunks that a hyperrectangle at a random place touches is the product over the axes of
(extent - 1) / chunk + 1, on an array without end. Sarawagi and Stonebraker (Efficient organization of
large multidimensional arrays, ICDE 1994) chose chunks by an approximate number for classes of queries
with probabilities; Otoo, Rotem and Seshadri (Optimal chunking of large multidimensional arrays for data
warehousing, DOLAP 2007, https://doi.org/10.1145/1317331.1317337) gave exact models for queries at
uniformly distributed places. Here the mean is over all places that an array of finite edges has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from format_bench.families.arrays.boxes import Box

TERMS = (
    "overhead",
    "per chunk touched",
    "per byte decoded",
    "per byte delivered",
    "per run copied",
    "per chunk of the array",
)
"""Terms of the sum, in order; the first is in seconds, the others in seconds for one."""

MOST_ERROR = 0.5
"""Median relative error of predictions of held-back reads above which a model does not count."""

# Huber's 1.345 standard deviations, of which the median absolute error is 0.6745.
_HUBER, _ITERATIONS = 1.345 / 0.6745, 6

LEAST_SHAPES = 3
"""Chunk shapes without which no model is fitted: one of them is held back."""


def expected_chunks(extent: int, start: int | None, edge: int, chunks: Any) -> Any:
    """Return the mean number of chunks that a range touches along an axis.

    Parameters
    ----------
    extent : int
        Indexes of the range, at least 1.
    start : int or None
        Its first index; None for a uniformly distributed one.
    edge : int
        Indexes of the axis.
    chunks : array_like of int
        Lengths of chunks.

    Returns
    -------
    numpy.ndarray of float
        For each length of chunks.
    """
    import numpy as np

    chunks = np.asarray(chunks)
    if start is not None:
        return ((start + extent - 1) // chunks - start // chunks + 1).astype(float)
    places = edge - extent + 1
    # The sums of floor(place / chunk) over the last and the first indexes of all places.
    lasts = _floor_sum(edge - 1, chunks) - _floor_sum(extent - 2, chunks)
    return 1 + (lasts - _floor_sum(places - 1, chunks)) / places


def _floor_sum(last: int, chunks: np.ndarray) -> np.ndarray:
    """Return the sum of floor(place / chunk) over the places from 0 to `last`, which may be -1."""
    whole, rest = last // chunks, last % chunks
    return chunks * (whole * (whole - 1) // 2) + whole * (rest + 1)


def amounts(query: Box, shape: tuple[int, ...], chunks: Any, value_bytes: int) -> np.ndarray:
    """Return the amounts of the model's terms for a query and each of some chunk shapes.

    Parameters
    ----------
    query : Box
        The part of the array that a query asks for.
    shape : tuple of int
        Edges of the array.
    chunks : array_like of int, shape (shapes, axes)
        Chunk shapes.
    value_bytes : int
        Bytes of a value.

    Returns
    -------
    numpy.ndarray, shape (shapes, len(TERMS))
    """
    import numpy as np

    chunks = np.asarray(chunks, np.int64)
    along = np.stack(
        [
            expected_chunks(extent, start, edge, chunks[:, axis])
            for axis, (extent, start, edge) in enumerate(
                zip(query.extents, query.starts, shape, strict=True)
            )
        ],
        axis=1,
    )
    touched = along.prod(axis=1)
    grid = -(-np.array(shape) // chunks)
    return np.stack(
        [
            np.ones(len(chunks)),
            touched,
            touched * chunks.prod(axis=1) * value_bytes,
            np.full(len(chunks), float(np.prod(query.extents)) * value_bytes),
            _runs(query, shape, chunks, along),
            grid.prod(axis=1).astype(float),
        ],
        axis=1,
    )


def _runs(query: Box, shape: tuple[int, ...], chunks: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the numbers of contiguous runs that are copied out of chunks."""
    import numpy as np

    found = np.ones(len(chunks))
    is_contiguous = np.ones(len(chunks), bool)
    for axis in reversed(range(len(shape))):
        # Runs are joined along an axis only if chunk and query are whole along all later ones.
        found *= np.where(is_contiguous, along[:, axis], query.extents[axis])
        is_whole = (chunks[:, axis] >= shape[axis]) & (query.extents[axis] == shape[axis])
        is_contiguous &= is_whole
    return found


@dataclass(frozen=True)
class ReadSample:
    """Measured time of a query on an array with some chunks."""

    query: Box
    """At a fixed place."""
    chunks: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class CostModel:
    """Seconds for one of each of `TERMS`, with the errors of predictions."""

    coefficients: tuple[float, ...]
    median_error: float
    """Median relative error of the predictions of reads whose chunk shape was held back."""
    r_squared: float
    """Of the logarithms of the times of the same reads."""
    reads: int
    """Number of reads."""

    @property
    def fits(self) -> bool:
        """True if predictions are near enough to choose chunks by them."""
        return self.median_error <= MOST_ERROR

    def seconds(self, query: Box, shape: tuple[int, ...], chunks: Any, value_bytes: int) -> np.ndarray:
        """Return the predicted times of a query for each of some chunk shapes."""
        import numpy as np

        return amounts(query, shape, chunks, value_bytes) @ np.array(self.coefficients)


def fit(samples: Sequence[ReadSample], shape: tuple[int, ...], value_bytes: int) -> CostModel | None:
    """Return the model of measured reads by least squares of relative errors without negative terms.

    Each chunk shape is held back once: its reads are predicted by the model of the others.

    Parameters
    ----------
    samples : sequence of ReadSample
        Reads of the same store and array.
    shape : tuple of int
        Edges of the array.
    value_bytes : int
        Bytes of a value.

    Returns
    -------
    CostModel or None
        None if fewer than `LEAST_SHAPES` chunk shapes were read.
    """
    import numpy as np

    by_shape = sorted({each.chunks for each in samples})
    if len(by_shape) < LEAST_SHAPES:
        return None
    rows = np.concatenate([amounts(each.query, shape, [each.chunks], value_bytes) for each in samples])
    times = np.array([each.seconds for each in samples])
    shape_of_row = np.array([by_shape.index(each.chunks) for each in samples])
    predicted = np.empty_like(times)
    for number in range(len(by_shape)):
        held = shape_of_row == number
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
