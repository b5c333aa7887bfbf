"""Work of queries to chunked arrays, in amounts of a cost model's terms.

The time of a query is a sum of amounts times the seconds for one of each (`cost_model`)::

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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
