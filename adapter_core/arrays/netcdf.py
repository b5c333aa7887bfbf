"""Limits of the netCDF-4 data model, which is narrower than HDF5's."""

from __future__ import annotations

import re

from adapter_core.array_source import ArraySource
from adapter_core.array_store import INTEGERS
from adapter_core.arrays import hdf5

DTYPES = INTEGERS | {"float32", "float64"}
"""Atomic types of netCDF-4."""

# From the netCDF file format specification, "name".
_NAME = re.compile(r"\w([^/\x00-\x1f\x7f]*[^/\x00-\x20\x7f])?")
_RESERVED = hdf5.RESERVED | {
    "_FillValue",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_NCProperties",
    "_nc3_strict",
    "least_significant_digit",  # netCDF4-python rounds what it appends then
}


def refused_properties(source: ArraySource) -> str:
    """Return why netCDF-4 cannot keep a source's properties, or an empty string."""
    for name in (source.name, *source.dims, *dict(source.all_attributes())):
        if not _NAME.fullmatch(name):
            return f"netCDF has no variables, dimensions or attributes of the name {name!r}"
    if source.name in source.dims:
        return f"a variable of the name of a dimension, {source.name!r}, would be its coordinates"
    lengths: dict[str, int] = {}
    for name, edge in zip(source.dims, source.shape, strict=True):
        if lengths.setdefault(name, edge) != edge:
            return f"the dimension {name!r} has two lengths, {lengths[name]} and {edge}"
    for name, value in source.all_attributes():
        if isinstance(value, list) and len(value) == 1:
            return f"the attribute {name!r} is a list of one value, which netCDF reads as the value"
    for name, values in source.coordinates.items():
        if values.dtype.name not in DTYPES:
            return f"coordinates {name!r} of type {values.dtype} are not supported"
    return hdf5.refused_properties(source, _RESERVED)


def dimension_limits(source: ArraySource) -> dict[str, int | None]:
    """Return the length of each dimension, None for an unlimited one.

    Unlimited are the first, so that arrays can be appended, and those that are shorter than a chunk.
    """
    edges = zip(source.dims, source.shape, source.chunks, strict=True)
    limits = {name: None if chunk > edge else edge for name, edge, chunk in edges}
    return limits | dict.fromkeys(source.dims[:1])
