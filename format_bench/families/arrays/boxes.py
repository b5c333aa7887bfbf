"""Boxes: the parts of arrays that questions ask for, by indexes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapter_core.array_description import Description
from adapter_core.array_source import Selection
from data_generator.random_words import RandomWords
from format_bench.families.questions import Question

ALL = "all"
"""Extent of a whole axis."""


@dataclass(frozen=True)
class Box:
    """A hyperrectangle of some extents, at random or fixed places."""

    extents: tuple[int, ...]
    """Indexes along each axis."""
    starts: tuple[int | None, ...]
    """First index along each axis; None for a random one."""

    def selection(self, shape: tuple[int, ...], *key: str | int) -> Selection:
        """Return a selection; a random place depends on the key alone."""
        return tuple(
            slice(first, first + extent)
            for first, extent in zip(self.placed(shape, *key).starts, self.extents, strict=True)
            if first is not None
        )

    def placed(self, shape: tuple[int, ...], *key: str | int) -> Box:
        """Return the box at a fixed place, which depends on the key alone where it is random."""
        if None not in self.starts:
            return self
        places = RandomWords("places of queries", *key).uniform(len(shape)).tolist()
        starts = (
            int(place * (edge - extent + 1)) if start is None else start
            for place, edge, extent, start in zip(places, shape, self.extents, self.starts, strict=True)
        )
        return Box(self.extents, tuple(starts))

    def scaled(self, shape: tuple[int, ...], smaller: tuple[int, ...]) -> Box:
        """Return the box in a smaller array: the same extents, cut where the array is shorter.

        An extent of a whole axis remains one of the whole axis, and a fixed place keeps its relative
        position.
        """
        extents, starts = [], []
        for edge, less, extent, start in zip(shape, smaller, self.extents, self.starts, strict=True):
            cut = less if extent == edge else min(extent, less)
            extents.append(cut)
            room = (less - cut) / max(1, edge - extent)
            starts.append(None if start is None else min(less - cut, round(start * room)))
        return Box(tuple(extents), tuple(starts))


def box_of(question: Question, array: Description, within: Selection) -> Box:
    """Return the box of a question.

    Parameters
    ----------
    question : Question
        Its extents count along the axes that it has some of.
    array : Description
        The array.
    within : tuple of slice
        The question's selection along the other axes.

    Raises
    ------
    InvalidQuestionsError
        If an extent or a first index does not fit the array.
    """
    extents, starts = question.fields.get("extent", {}), question.fields.get("start", {})
    found: list[tuple[int, int | None]] = []
    for dim, edge, part in zip(array.dims, array.shape, within, strict=True):
        if dim not in extents:
            found.append((part.stop - part.start, part.start))
            continue
        extent, start = _indexes(question, dim, extents[dim], edge), starts.get(dim)
        if start is not None and start > edge - extent:
            raise question.refused(f"{dim} starts at {start}, but has {edge} indexes")
        found.append((extent, start))
    return Box(tuple(extent for extent, _ in found), tuple(start for _, start in found))


def _indexes(question: Question, dim: str, value: Any, edge: int) -> int:
    """Return an extent as a number of indexes."""
    if value == ALL:
        return edge
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= edge:
            raise question.refused(f"{dim} = {value}, but the array has {edge} indexes along it")
        return value
    if isinstance(value, float) and 0 < value <= 1:
        return max(1, round(value * edge))
    raise question.refused(
        f"{dim} = {value!r}; write a number of indexes, a share such as 0.1, or {ALL!r}"
    )


def by(shape: Sequence[int]) -> str:
    """Return a shape as text, e.g. "1 x 50 x 100"."""
    return " x ".join(f"{edge:,}" for edge in shape)


# Axes of at most so many indexes are not cut, unless nothing else is left. Such axes are levels, bands
# or colours, and questions ask for all of them. Chosen, not measured.
SHORT_AXIS = 8


def part_edges(shape: tuple[int, ...], boxes: Sequence[Box], most_values: float) -> tuple[int, ...]:
    """Return the edges of a part of an array with at most so many values.

    All axes are cut by the same factor, but to no less than the largest extent, other than the whole
    axis, that a box has along it; and short axes are not cut. Where the size does not allow that, only
    the factor counts.
    """
    most_values = max(1.0, most_values)
    if math.prod(shape) <= most_values:
        return shape
    least = [
        max([1, min(edge, SHORT_AXIS), *(n for n in lengths if n < edge)])
        for edge, *lengths in zip(shape, *(each.extents for each in boxes), strict=True)
    ]
    if math.prod(least) > most_values:
        least = [1] * len(shape)

    def cut(factor: float) -> tuple[int, ...]:
        return tuple(max(few, int(edge * factor)) for edge, few in zip(shape, least, strict=True))

    low, high = 0.0, 1.0
    for _ in range(50):  # to the last bit of the factor
        factor = (low + high) / 2
        low, high = (factor, high) if math.prod(cut(factor)) <= most_values else (low, factor)
    return cut(low)
