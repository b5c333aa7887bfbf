"""Writing of chunks into objects that are indexed like NumPy arrays, and into one run of bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import ArraySource, Selection, chunk_selections

if TYPE_CHECKING:
    import numpy as np


def write_chunks(target: Any, source: ArraySource, first_row: int = 0) -> None:
    """Assign each chunk of a source to a dataset or variable, from a row on."""
    for selection, values in source:
        target[shifted(selection, first_row)] = values


def write_flat(source: ArraySource, path: Path, start: int) -> None:
    """Write the values in C order into an existing file, from a byte on."""
    import numpy as np

    if are_runs(source):
        # A copy less than through a mapping.
        with path.open("r+b") as file:
            file.seek(start)
            for _, values in source:
                values.tofile(file)
    elif source.size_bytes:
        os.truncate(path, start + source.size_bytes)
        mapped = np.memmap(path, source.dtype, "r+", start, source.shape)
        write_chunks(mapped, source)


def write_region(
    write: Callable[[Selection, np.ndarray], object],
    values: np.ndarray,
    shape: tuple[int, ...],
    first_row: int,
) -> None:
    """Write values in memory piece by piece.

    Parameters
    ----------
    write : callable
        Called with the selection of each piece in the whole array and its values.
    values : numpy.ndarray
        Values of consecutive rows of the whole array.
    shape : tuple of int
        Shape of a piece; those at the ends may be smaller.
    first_row : int
        Row of the whole array at which the values start.
    """
    for selection in chunk_selections(values.shape, shape):
        write(shifted(selection, first_row), values[selection])


def shifted(selection: Selection, first_row: int) -> Selection:
    """Return a selection moved along the first axis."""
    if not first_row:
        return selection
    first, *others = selection
    return (slice(first.start + first_row, first.stop + first_row), *others)


def are_runs(source: ArraySource) -> bool:
    """Return whether each chunk is one run of bytes of an undivided array in C order."""
    # All axes after the first with several values in a chunk must be whole.
    divided = [chunk < edge for chunk, edge in zip(source.chunks, source.shape, strict=True)]
    last = max((axis for axis, each in enumerate(divided) if each), default=0)
    return all(chunk == 1 for chunk in source.chunks[:last])
