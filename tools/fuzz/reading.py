"""Reading of a user's data as `--data` does: every value of it in this process, or confined as for a user."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter_core.array_source import grid_of
from data_generator.confinement.limits import USUAL_LIMITS
from data_generator.user import load, table

CHUNKS = 64
"""Chunks of an array that are read; a changed header may declare any number."""
CHUNK_BYTES = 2**26
IMAGES = 16

SECONDS = 60
"""Time that the confined process may take; users allow it more."""


def confined(path: Path, *, as_records: bool = False) -> None:
    """Read a file or folder in the process that `run --data` reads it in."""
    from format_bench.runner.user_data import Source, prepare

    limits = replace(USUAL_LIMITS, memory_bytes=2**31, disk_bytes=2**28, seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Source(str(path), limits=limits, as_records=as_records), Path(folder))


def in_this_process(path: Path) -> Any:
    """Return all values of a file or folder, or the first ones of very many, read where harm shows."""
    # Files of some libraries are first read in another process, out of which nothing is seen.
    table.rehearse = lambda *_: None
    found = load.load_data(path)
    if found.array is not None:
        return _values(found.array)
    if found.images is not None:
        return [found.images[number] for number in range(min(IMAGES, len(found.images)))]
    return found.df


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
