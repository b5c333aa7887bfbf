"""Assignment of chunks to objects that are indexed like NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter_core.array_source import ArraySource, Selection


def write_chunks(target: Any, source: ArraySource, first_row: int = 0) -> None:
    """Assign each chunk of a source to a dataset or variable, from a row on."""
    for selection, values in source:
        target[shifted(selection, first_row)] = values


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
