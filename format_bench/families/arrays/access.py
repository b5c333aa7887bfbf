"""Reads of an open array: chunk by chunk, in order or at random, or in partitions of chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from adapter_core import ArrayReader
from adapter_core.array_source import Selection, chunk_selections, grid_of
from data_generator.random_words import RandomWords
from format_bench.instruments.clock import seconds_per_item
from format_bench.instruments.touch import touch_array

# The least number of chunks of a partition, if the array has so many. In a partition of a few chunks,
# opening the array would be most of the time. Chosen, not measured.
PARTITION_CHUNKS = 16


def read_in_order(reader: ArrayReader, chunks: tuple[int, ...]) -> int:
    """Read and touch every chunk in C order; return their number."""
    number = 0
    for selection in chunk_selections(reader.shape, chunks):
        touch_array(reader.read(selection))
        number += 1
    return number


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Order of reading an array; each turn has another order of the same pattern."""

    partitioned: bool
    """Whether partitions are read, whose chunks are then used in shuffled order; else single chunks."""
    shuffled: bool
    """Whether the partitions, or the chunks, come in random order."""

    def seconds_per_chunk(
        self, reader: ArrayReader, chunks: tuple[int, ...], turn: int, budget_seconds: float
    ) -> float:
        """Return the seconds per chunk of one turn, which ends early when the budget is spent."""
        read = _read_partition if self.partitioned else _read_chunk
        reads = list(self._reads(reader.shape, chunks, turn))
        return seconds_per_item(partial(read, reader), reads, budget_seconds)

    def _reads(
        self, shape: tuple[int, ...], chunks: tuple[int, ...], turn: int
    ) -> Iterator[list[Selection]]:
        """Yield the chunks of each read, a partition's in the order of their use."""
        everything = list(chunk_selections(shape, chunks))
        size = _partition_chunks(shape, chunks) if self.partitioned else 1
        parts = [everything[first : first + size] for first in range(0, len(everything), size)]
        order = _permutation(len(parts), turn) if self.shuffled else range(len(parts))
        for number in order:
            part = parts[number]
            yield [part[i] for i in _permutation(len(part), turn, number)] if size > 1 else part


def _partition_chunks(shape: tuple[int, ...], chunks: tuple[int, ...]) -> int:
    """Return the chunks of a partition, which consists of whole rows of the grid's first axis."""
    row = max(1, math.prod(grid_of(shape, chunks)[1:]))
    return row * -(-PARTITION_CHUNKS // row)


def _permutation(count: int, *key: int) -> list[int]:
    order: list[int] = RandomWords("chunk access", *key, count).words(count).argsort().tolist()
    return order


def _read_chunk(reader: ArrayReader, selections: Sequence[Selection]) -> None:
    touch_array(reader.read(selections[0]))


def _read_partition(reader: ArrayReader, selections: Sequence[Selection]) -> None:
    """Read the hull of some chunks by one call, and copy each chunk out of it."""
    hull = tuple(
        slice(min(each.start for each in axis), max(each.stop for each in axis))
        for axis in zip(*selections, strict=True)
    )
    values = reader.read(hull)
    for selection in selections:
        inner = tuple(
            slice(each.start - outer.start, each.stop - outer.start)
            for each, outer in zip(selection, hull, strict=True)
        )
        # A consumer takes a chunk into memory of its own, e.g. of a batch.
        values[inner].copy()
