"""Base class of open n-d arrays, read by hyperrectangles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_source import ArraySource, Attribute, Selection
from adapter_core.reader import Reader

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_description import Bounds, Description


class ArrayReader(Reader):
    """An open array.

    A subclass implements `_read`, and overrides `close` if it keeps something open.

    Parameters
    ----------
    description : Description
        Shape, dtype and chunks in the file, and the properties that the store has kept.
    """

    maps_files: ClassVar[bool] = False
    """True if values may be views of a mapped file, whose pages come into memory when they are used."""

    def __init__(self, description: Description) -> None:
        self.description = description

    def source(self) -> ArraySource:
        """Return the array as a source, whose selections are read from the open file."""
        facts = self.description
        return ArraySource(
            facts.shape,
            facts.dtype,
            facts.chunks,
            self.read,
            name=facts.name,
            dims=facts.dims,
            attributes=facts.attributes,
            coordinates=facts.coordinates,
            coordinate_attributes=facts.coordinate_attributes,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The edges of the array."""
        return self.description.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.description.dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk in the file; the array's if it is not divided."""
        return self.description.chunks

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes, empty if the store does not keep them."""
        return self.description.attributes

    @property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """The coordinates by dimension, empty if the store does not keep them."""
        return self.description.coordinates

    @property
    def coordinate_attributes(self) -> Mapping[str, Mapping[str, Attribute]]:
        """The attributes of coordinates, empty if the store does not keep them."""
        return self.description.coordinate_attributes

    def read(self, selection: tuple[slice, ...] | None = None) -> np.ndarray:
        """Return the values of a hyperrectangle, or of the whole array.

        Parameters
        ----------
        selection : tuple of slice, optional
            One slice for each of the first dimensions, without a step; the others are read whole.

        Returns
        -------
        numpy.ndarray
            Of the selection's shape and the array's dtype; may be read-only, or a view of a mapped file.

        Raises
        ------
        IndexError
            If there are more slices than dimensions, or a slice has a step.
        """
        if selection is None:
            return self._read(tuple(slice(0, edge) for edge in self.shape))
        return self._read(self._resolved(selection))

    def select(self, bounds: Bounds) -> np.ndarray:
        """Return the values within bounds of coordinates, by the usual way of the library.

        By default the indexes are found in the coordinates; libraries that select by coordinates
        themselves override this.

        Parameters
        ----------
        bounds : mapping of str to (float, float)
            Least and largest coordinate, both inclusive, by dimension; the others are read whole.

        Returns
        -------
        numpy.ndarray
            With all dimensions of the array.

        Raises
        ------
        KeyError
            If a dimension is unknown, or has no coordinates.
        """
        return self._read(self.description.selection(bounds))

    def _resolved(self, selection: tuple[slice, ...]) -> Selection:
        if len(selection) > len(self.shape):
            raise IndexError(f"{len(selection)} slices for an array of {len(self.shape)} dimensions")
        whole = (slice(None),) * (len(self.shape) - len(selection))
        resolved = []
        for each, edge in zip((*selection, *whole), self.shape, strict=True):
            start, stop, step = each.indices(edge)
            if step != 1:
                raise IndexError(f"a selection has no steps, but one is {step}")
            resolved.append(slice(start, max(start, stop)))
        return tuple(resolved)

    @abstractmethod
    def _read(self, selection: Selection) -> np.ndarray:
        """Return the values of a selection within the shape, which may be empty."""
