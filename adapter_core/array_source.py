"""N-d array that is produced or read piece by piece."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np

Selection = tuple[slice, ...]
"""A hyperrectangle: a slice with start, stop and step 1 for each dimension."""

Attribute = str | int | float | list[int] | list[float]
"""Value of an attribute, as CF conventions have them."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """An n-d array that returns any hyperrectangle, without the whole in memory.

    Raises
    ------
    ValueError
        If chunks or names of dimensions do not match the shape, a chunk has an edge below 1, or
        coordinates that are missing have attributes.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    """Shape of a chunk; the last ones along an axis may be smaller."""
    read: Callable[[Selection], np.ndarray]
    """Returns the values of a selection: its shape, the dtype above, C-contiguous."""
    name: str = "values"
    """Name of the variable."""
    dims: tuple[str, ...] = ()
    """Names of the dimensions; ``dim_0``, ``dim_1``, ... if empty."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    coordinates: Mapping[str, np.ndarray] = field(default_factory=dict)
    """For some dimensions the coordinate of each index, by name of the dimension; shape (edge,)."""
    coordinate_attributes: Mapping[str, Mapping[str, Attribute]] = field(default_factory=dict)
    """Attributes of coordinates, by name of the dimension."""

    def __post_init__(self) -> None:
        if not self.dims:
            object.__setattr__(self, "dims", tuple(f"dim_{axis}" for axis in range(len(self.shape))))
        if not len(self.shape) == len(self.chunks) == len(self.dims):
            raise ValueError(
                f"shape {self.shape}, chunks {self.chunks} and dimensions {self.dims} differ in number"
            )
        if any(edge < 1 for edge in self.chunks):
            raise ValueError(f"chunks {self.chunks} have an edge below 1")
        if missing := self.coordinate_attributes.keys() - self.coordinates.keys():
            raise ValueError(f"there are attributes, but no coordinates of {', '.join(sorted(missing))}")

    @classmethod
    def of(cls, array: np.ndarray, chunks: tuple[int, ...] | None = None, **facts: Any) -> Self:
        """Return the source of an array in memory.

        Parameters
        ----------
        array : numpy.ndarray
            Any shape, dtype and order in memory.
        chunks : tuple of int, optional
            By default one chunk.
        **facts
            Further fields: name, dims, attributes, coordinates, coordinate_attributes.
        """
        import numpy as np

        whole = tuple(max(1, edge) for edge in array.shape)
        return cls(
            shape=array.shape,
            dtype=array.dtype,
            chunks=whole if chunks is None else chunks,
            read=lambda selection: np.ascontiguousarray(array[selection]).reshape(shape_of(selection)),
            **facts,
        )

    @property
    def size_bytes(self) -> int:
        """The size of all values in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def chunk_bytes(self) -> int:
        """The size of a whole chunk in memory."""
        return math.prod(self.chunks) * self.dtype.itemsize

    def all_attributes(self) -> Iterator[tuple[str, Attribute]]:
        """Yield the name and value of each attribute, of the variable and of coordinates."""
        for attributes in (self.attributes, *self.coordinate_attributes.values()):
            yield from attributes.items()

    def __iter__(self) -> Iterator[tuple[Selection, np.ndarray]]:
        """Yield the selection and the values of each chunk, in C order of the grid of chunks."""
        for selection in chunk_selections(self.shape, self.chunks):
            yield selection, self.read(selection)


def grid_of(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of chunks along each axis."""
    return tuple(-(-edge // chunk) for edge, chunk in zip(shape, chunks, strict=True))


def chunk_selection(
    index: tuple[int, ...], shape: tuple[int, ...], chunks: tuple[int, ...]
) -> Selection:
    """Return the selection of the chunk at an index of the grid; clipped to the shape."""
    return tuple(
        slice(place * chunk, min(edge, (place + 1) * chunk))
        for place, chunk, edge in zip(index, chunks, shape, strict=True)
    )


def chunk_selections(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[Selection]:
    """Yield the selection of each chunk, in C order; one empty selection for a 0-d array."""
    for index in itertools.product(*map(range, grid_of(shape, chunks))):
        yield chunk_selection(index, shape, chunks)


def shape_of(selection: Selection) -> tuple[int, ...]:
    """Return the shape of the values of a selection."""
    return tuple(each.stop - each.start for each in selection)
