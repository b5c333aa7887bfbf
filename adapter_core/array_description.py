"""Description of a stored array, and its text for stores that keep text beside the values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import ArraySource, Attribute, Selection

Bounds = Mapping[str, tuple[float, float]]
"""Least and largest coordinate, both inclusive, by dimension; other dimensions are not restricted."""

KEY = "format_bench.array"
"""Name of the metadata entry that contains the text."""


@dataclass(frozen=True, eq=False)
class Description:
    """Shape, dtype, chunks and properties of an array in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    name: str = ""
    """Empty if the store does not keep it."""
    dims: tuple[str, ...] = ()
    """Empty if the store does not keep them."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    coordinates: Mapping[str, np.ndarray] = field(default_factory=dict)
    coordinate_attributes: Mapping[str, Mapping[str, Attribute]] = field(default_factory=dict)

    @property
    def chunk_bytes(self) -> int:
        """The size of a whole chunk in memory."""
        return math.prod(self.chunks) * self.dtype.itemsize

    @classmethod
    def of(cls, source: ArraySource) -> Self:
        """Return the description of a source."""
        return cls(**{each.name: getattr(source, each.name) for each in fields(cls)})

    def selection(self, bounds: Bounds) -> Selection:
        """Return the selection of the indexes whose coordinates are within bounds.

        Parameters
        ----------
        bounds : mapping of str to (float, float)
            By names of dimensions, whose coordinates must be ascending or descending.

        Raises
        ------
        KeyError
            If a dimension is unknown, or has no coordinates.
        """
        import numpy as np

        unknown = [dim for dim in bounds if dim not in self.dims or dim not in self.coordinates]
        if unknown:
            raise KeyError(f"there are no coordinates of {', '.join(unknown)}")
        selection = []
        dims = self.dims or ("",) * len(self.shape)
        for dim, edge in zip(dims, self.shape, strict=True):
            if dim in bounds:
                least, largest = bounds[dim]
                values = self.coordinates[dim]
                within = np.flatnonzero((values >= least) & (values <= largest))
                ends = (int(within[0]), int(within[-1]) + 1) if within.size else (0, 0)
                selection.append(slice(*ends))
            else:
                selection.append(slice(0, edge))
        return tuple(selection)

    def to_json(self) -> str:
        """Return the description as JSON; floats have all their digits."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values for JSON."""
        facts = {
            "shape": self.shape,
            "dtype": self.dtype.str,
            "chunks": self.chunks,
            "name": self.name,
            "dims": self.dims,
            "attributes": dict(self.attributes),
            "coordinates": {name: _plain(values) for name, values in self.coordinates.items()},
        }
        if self.coordinate_attributes:
            facts["coordinate_attributes"] = {
                name: dict(each) for name, each in self.coordinate_attributes.items()
            }
        return facts

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the description of a text from `to_json`."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the description of values from `to_dict`."""
        import numpy as np

        coordinates = {name: _line(each) for name, each in facts["coordinates"].items()}
        shape, chunks, dims = (tuple(facts[name]) for name in ("shape", "chunks", "dims"))
        dtype = np.dtype(facts["dtype"])
        further = facts.get("coordinate_attributes", {})
        return cls(shape, dtype, chunks, facts["name"], dims, facts["attributes"], coordinates, further)

    def extended(self, source: ArraySource) -> Self:
        """Return the description after a source has been appended along the first axis."""
        import numpy as np

        first = self.dims[0] if self.dims else ""
        coordinates = dict(self.coordinates)
        if first in coordinates and first in source.coordinates:
            coordinates[first] = np.concatenate([coordinates[first], source.coordinates[first]])
        edge = self.shape[0] + source.shape[0]
        return replace(self, shape=(edge, *self.shape[1:]), coordinates=coordinates)


def _plain(line: np.ndarray) -> dict[str, Any]:
    """Return coordinates as values for JSON; complex numbers are pairs of their parts."""
    values = line.tolist()
    if line.dtype.kind == "c":
        values = [[each.real, each.imag] for each in values]
    return {"dtype": line.dtype.str, "values": values}


def _line(plain: Mapping[str, Any]) -> np.ndarray:
    """Return the coordinates of values from `_plain`."""
    import numpy as np

    dtype = np.dtype(plain["dtype"])
    if dtype.kind != "c":
        return np.array(plain["values"], dtype)
    line = np.empty(len(plain["values"]), dtype)
    line.real, line.imag = np.array(plain["values"], np.float64).reshape(-1, 2).T
    return line
