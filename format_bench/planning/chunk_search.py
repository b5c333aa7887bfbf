"""Search for chunk shapes: designed shapes to fit a cost model to, and the best ones by it.

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

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from format_bench.families.arrays.boxes import Box
    from format_bench.planning.cost_model import CostModel
    from format_bench.planning.mix import ArrayMix

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


Shape = tuple[int, ...]

# Sizes of a chunk that are considered, unless the array is smaller. From what h5py aims at for small
# arrays (CHUNK_BASE) to 64 times what Zarr's guide advises at least.
LEAST_CHUNK_BYTES, MOST_CHUNK_BYTES = 16_000, 64_000_000

# Chunk shapes that are compared; for more, lengths along each axis become sparser. Their amounts take 10
# MB for a query: six float64 for each.
MOST_SHAPES = 200_000

# Fastest chunk shapes that a search returns. Among them are some that differ in kind from the fastest
# one. Chosen, not measured.
MOST_PROPOSALS = 300

# Far apart, so that a fit can separate the cost of a chunk from the cost of its bytes.
_SMALL_BYTES, _MIDDLE_BYTES, _LARGE_BYTES = 64_000, 1_000_000, 8_000_000
# Between small and middle: a long chunk shall still cut the other axes of the sample. Chosen, not
# measured.
_LONG_BYTES = 256_000


def designed(shape: Shape, value_bytes: int, least_bytes: float = 0) -> list[Shape]:
    """Return chunk shapes that differ in kind: of three sizes, and long along each axis.

    Parameters
    ----------
    shape : tuple of int
        Edges of the array.
    value_bytes : int
        Bytes of a value.
    least_bytes : float
        Smallest size of a chunk.
    """

    def values(size_bytes: float) -> float:
        return max(size_bytes, least_bytes) / value_bytes

    found = [_even(shape, values(size)) for size in (_MIDDLE_BYTES, _SMALL_BYTES, _LARGE_BYTES)]
    for axis, edge in enumerate(shape):
        others = _even(shape[:axis] + shape[axis + 1 :], values(_LONG_BYTES) / edge)
        found.append((*others[:axis], edge, *others[axis:]))
        if len(shape) > 1:
            flat = _even(shape[:axis] + shape[axis + 1 :], values(_MIDDLE_BYTES))
            found.append((*flat[:axis], 1, *flat[axis:]))
    return list(dict.fromkeys(found))


def _even(shape: Shape, values: float) -> Shape:
    """Return a chunk of about so many values, with equal edges where the array is long enough."""
    found = [0] * len(shape)
    left = max(1.0, values)
    order = sorted(range(len(shape)), key=lambda axis: shape[axis])
    for place, axis in enumerate(order):
        edge = min(shape[axis], max(1, round(left ** (1 / (len(order) - place)))))
        found[axis] = edge
        left = max(1.0, left / edge)
    return tuple(found)


def candidates(
    shape: Shape, extents: Iterable[Shape], value_bytes: int, least_bytes: float, most_bytes: float
) -> np.ndarray:
    """Return chunk shapes of sizes within bounds, shape (shapes, axes).

    Lengths along an axis are powers of two, equal parts of the axis, and the extents of queries.

    Parameters
    ----------
    shape : tuple of int
        Edges of the array, which chunks do not exceed.
    extents : iterable of tuple of int
        Extents of queries.
    value_bytes : int
        Bytes of a value.
    least_bytes, most_bytes : float
        Bounds; if no shape is within them, the whole array is the only one.
    """
    import numpy as np

    wanted = list(zip(*extents, strict=True)) or [()] * len(shape)
    axes = [_lengths(edge, some) for edge, some in zip(shape, wanted, strict=True)]
    while math.prod(map(len, axes)) > MOST_SHAPES:
        longest = max(range(len(axes)), key=lambda axis: len(axes[axis]))
        axes[longest] = sorted({*axes[longest][::2], shape[longest]})
    found = np.array(list(itertools.product(*axes)), np.int64)
    sizes = found.prod(axis=1) * value_bytes
    within = found[(sizes >= least_bytes) & (sizes <= most_bytes)]
    return within if len(within) else np.array([shape])


def _lengths(edge: int, wanted: Iterable[int]) -> list[int]:
    powers = {1 << bits for bits in range(edge.bit_length()) if 1 << bits <= edge}
    parts = {-(-edge // (1 << bits)) for bits in range(edge.bit_length())}
    return sorted(powers | parts | {min(edge, each) for each in wanted} | {edge})


@dataclass(frozen=True)
class Proposal:
    """A chunk shape with its predicted cost."""

    chunks: Shape
    seconds: float
    """Predicted mean time of the mix's queries."""
    number: int
    """Chunks of the array."""


def search(  # noqa: PLR0913 (what is searched, and its bounds)
    model: CostModel,
    mix: ArrayMix,
    shape: Shape,
    value_bytes: int,
    *,
    edges: Shape | None = None,
    least_bytes: float = LEAST_CHUNK_BYTES,
    most_bytes: float = MOST_CHUNK_BYTES,
) -> list[Proposal]:
    """Return the best chunk shapes of a store by predicted time, the fastest first.

    Besides the `MOST_PROPOSALS` fastest these are the shapes on the Pareto front of predicted time and
    number of chunks.

    Parameters
    ----------
    model : CostModel
        Of a store.
    mix : Mix
        The queries.
    shape : tuple of int
        Edges of the array.
    value_bytes : int
        Bytes of a value.
    edges : tuple of int, optional
        The largest edges of chunks; by default the array's.
    least_bytes, most_bytes : float
        Bounds on the size of a chunk.
    """
    import numpy as np

    extents = [each.box.extents for each in mix.queries]
    found = candidates(edges or shape, extents, value_bytes, least_bytes, most_bytes)
    work = (amounts(each.box, shape, found, value_bytes) for each in mix.queries)
    costs = mix.cost([model.seconds(each) for each in work])
    numbers = (-(-np.array(shape) // found)).prod(axis=1)
    proposals: list[Proposal] = []
    fewest = math.inf
    for rank, place in enumerate(np.lexsort((numbers, costs)).tolist()):
        if rank < MOST_PROPOSALS or numbers[place] < fewest:
            chunks = tuple(found[place].tolist())
            proposals.append(Proposal(chunks, float(costs[place]), int(numbers[place])))
        fewest = min(fewest, numbers[place])
    return proposals


def front(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Return the Pareto front of predicted time and number of chunks, of proposals by time."""
    found: list[Proposal] = []
    for each in proposals:
        if not found or each.number < found[-1].number:
            found.append(each)
    return found


def different(proposals: Iterable[Proposal], most: int, slower: float) -> list[Proposal]:
    """Return proposals that differ in kind, the fastest first.

    Two are of the same kind if no edge differs by a factor of 2 or more.

    Parameters
    ----------
    proposals : iterable of Proposal
        From the fastest to the slowest.
    most : int
        Most proposals to return.
    slower : float
        Most times that one may take the time of the first.
    """
    found: list[Proposal] = []
    for each in proposals:
        if len(found) == most or (found and each.seconds > slower * found[0].seconds):
            break
        if not any(_are_alike(each.chunks, other.chunks) for other in found):
            found.append(each)
    return found


def _are_alike(one: Shape, other: Shape) -> bool:
    return all(max(edges) < 2 * min(edges) for edges in zip(one, other, strict=True))
