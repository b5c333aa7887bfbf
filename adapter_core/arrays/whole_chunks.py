"""Arrays whose chunks are read whole, one by one."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import Selection, chunk_selection, grid_of, shape_of

if TYPE_CHECKING:
    import numpy as np


class WholeChunkReader(ArrayReader):
    """An open array whose store returns whole chunks only.

    A subclass implements `_chunk`.
    """

    @abstractmethod
    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        """Return the chunk at an index of the grid, of its own shape."""

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        if 0 in shape_of(selection):
            return np.empty(shape_of(selection), self.dtype)
        first = tuple(each.start // chunk for each, chunk in zip(selection, self.chunks, strict=True))
        if chunk_selection(first, self.shape, self.chunks) == selection:
            return self._chunk(first)
        touched = [
            range(each.start // chunk, -(-each.stop // chunk))
            for each, chunk in zip(selection, self.chunks, strict=True)
        ]
        if all(len(each) == 1 for each in touched):
            inner, _ = self._overlap(first, selection)
            # A copy: a part of a chunk must not keep the rest in memory.
            return self._chunk(first)[inner].copy()
        found = np.empty(shape_of(selection), self.dtype)
        for index in itertools.product(*touched):
            inner, outer = self._overlap(index, selection)
            found[outer] = self._chunk(index)[inner]
        return found

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return grid_of(self.shape, self.chunks)

    def chunk_number(self, index: tuple[int, ...]) -> int:
        """Return the number of the chunk at an index of the grid, in C order."""
        number = 0
        for place, edge in zip(index, self.grid, strict=True):
            number = number * edge + place
        return number

    def chunk_shape(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the chunk at an index of the grid."""
        return shape_of(chunk_selection(index, self.shape, self.chunks))

    def _overlap(self, index: tuple[int, ...], selection: Selection) -> tuple[Selection, Selection]:
        """Return where a chunk and a selection overlap, in the chunk and in the selection."""
        inner, outer = [], []
        place = chunk_selection(index, self.shape, self.chunks)
        for chunk, wanted in zip(place, selection, strict=True):
            start, stop = max(chunk.start, wanted.start), min(chunk.stop, wanted.stop)
            inner.append(slice(start - chunk.start, stop - chunk.start))
            outer.append(slice(start - wanted.start, stop - wanted.start))
        return tuple(inner), tuple(outer)
