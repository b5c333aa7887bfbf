"""Reading of a user's data as `--data` does, every value of it, in this process or as a user does."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from adapter_core.array_source import grid_of
from data_generator.user import load, table

CHUNKS = 64
"""Chunks of an array that are read; a changed header may declare any number."""
CHUNK_BYTES = 2**26
IMAGES = 16


def as_a_user(path: Path) -> Any:
    """Return all values of a file or folder, or the first ones of very many."""
    found = load.load_data(path)
    if found.array is not None:
        return _values(found.array)
    if found.images is not None:
        return [found.images[number] for number in range(min(IMAGES, len(found.images)))]
    return found.df


def in_this_process(path: Path) -> Any:
    """Return the same without a process of its own for libraries that crash."""
    table.rehearse = lambda *_: None
    return as_a_user(path)


def _values(array: Any) -> list[Any]:
    grid = grid_of(array.shape, array.chunks)
    found = [array.coordinates, array.attributes]
    for chunk_number in range(min(CHUNKS, math.prod(grid))):
        place, rest = [], chunk_number
        for edge in reversed(grid):
            place.insert(0, rest % edge)
            rest //= edge
        selection = tuple(
            slice(number * chunk, min(edge, (number + 1) * chunk))
            for number, chunk, edge in zip(place, array.chunks, array.shape, strict=True)
        )
        size = array.dtype.itemsize
        for each in selection:
            size *= each.stop - each.start
        if size <= CHUNK_BYTES:
            found.append(array.read(selection))
    return found
