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
