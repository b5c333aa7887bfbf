"""Search for chunk shapes: designed shapes to fit a cost model to, and the best ones by it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.planning.chunk_cost import amounts

if TYPE_CHECKING:
    import numpy as np

    from format_bench.planning.cost_model import CostModel
    from format_bench.planning.mix import ArrayMix

Shape = tuple[int, ...]

LEAST_CHUNK_BYTES, MOST_CHUNK_BYTES = 16_000, 64_000_000
"""Sizes of a chunk that are considered, unless the array is smaller."""

MOST_SHAPES = 200_000
"""Chunk shapes that are compared; for more, lengths along each axis become sparser."""

MOST_PROPOSALS = 300
"""Fastest chunk shapes that a search returns."""

_SMALL_BYTES, _MIDDLE_BYTES, _LARGE_BYTES = 64_000, 1_000_000, 8_000_000
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
