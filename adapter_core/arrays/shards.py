"""Grouping of chunks into shards, or into bands that are written by one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapter_core.array_source import ArraySource, chunk_selection, grid_of, shape_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import Description, Selection

SHARD_BYTES = 2**26
"""Size of a shard before compression: some tens of chunks of usual size, and a few in memory."""

BAND_BYTES = 2**22
"""Size of a band: a call for each chunk of some kilobytes takes up to two and a half times as long."""


def bands(source: ArraySource) -> Iterator[tuple[Selection, np.ndarray]]:
    """Yield runs of small chunks, or else each chunk; an array may be used again for the next one."""
    if source.chunk_bytes > BAND_BYTES // 2:
        return iter(source)
    return shards(source, shard_of(source, BAND_BYTES))


def pieces_of(values: np.ndarray, chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the pieces of an array in memory to write at a time: a chunk, or a band."""
    source = ArraySource.of(values, chunks)
    return chunks if source.chunk_bytes > BAND_BYTES // 2 else shard_of(source, BAND_BYTES)


def shard_of(source: ArraySource | Description, size_bytes: int = SHARD_BYTES) -> tuple[int, ...]:
    """Return the shape of shards of at most a size, each a run of chunks in C order.

    The source yields its chunks in C order, so only one shard at a time is in memory.
    """
    chunks_left = max(1, size_bytes // max(1, source.chunk_bytes))
    shape: list[int] = []
    for count, edge in zip(
        reversed(grid_of(source.shape, source.chunks)), reversed(source.chunks), strict=True
    ):
        # A run continues along the next axis only if it covers this one.
        factor = max(1, min(count, chunks_left))
        shape.append(factor * edge)
        chunks_left = chunks_left // factor if factor >= count else 1
    return tuple(reversed(shape))


def shards(source: ArraySource, shape: tuple[int, ...]) -> Iterator[tuple[Selection, np.ndarray]]:
    """Yield the selection and the values of each shard; its array is used again for the next."""
    import numpy as np

    place: Selection | None = None
    values = np.empty(0, source.dtype)
    for selection, chunk in source:
        index = tuple(each.start // edge for each, edge in zip(selection, shape, strict=True))
        if (now := chunk_selection(index, source.shape, shape)) != place:
            if place is not None:
                yield place, values
            place = now
            if values.shape != shape_of(place):
                values = np.empty(shape_of(place), source.dtype)
        inner = tuple(
            slice(each.start - outer.start, each.stop - outer.start)
            for each, outer in zip(selection, place, strict=True)
        )
        values[inner] = chunk
    if place is not None:
        yield place, values
