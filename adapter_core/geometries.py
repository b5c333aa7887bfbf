"""Columns of geometries: bytes in Well-known Binary (WKB) of two dimensions.

https://www.ogc.org/standards/sfa has the encoding. Coordinates are longitudes and latitudes, as in
GeoParquet and GeoJSON unless their metadata have another system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidSelectionError
from adapter_core.kinds import Kind, kinds_of
from adapter_core.text import shortened

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import shapely

GEOMETRY = "geometry"
"""Name of the column of geometries in formats that keep none."""

TYPES = (
    "Point",
    "LineString",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
    "GeometryCollection",
)
"""Names of the types, whose numbers in WKB begin at 1."""

# Shapely's numbers of types with parts, and of the collection, whose parts are of any type.
_FIRST_OF_PARTS, _COLLECTION = 4, 7

# As GeoPandas has them: cells of 600 metres on a map of the world.
_CURVE_BITS = 16

# Of numbers below 1,000 twelve decimals are 15 digits, which a float keeps.
_SHORT_DECIMALS, _SHORT_LIMIT = 12, 1_000

# A mark for little-endian numbers, and the number of the type.
_HEAD_BYTES = 5
_LITTLE_ENDIAN = 1


def geometry_columns(df: pd.DataFrame) -> list[str]:
    """Return the names of the columns that contain geometries and nulls alone, at least one geometry."""
    return [
        df.columns[position]
        for position, kind in enumerate(kinds_of(df))
        if kind is Kind.BINARY and types_of(df.iloc[:, position])
    ]


def types_of(column: pd.Series) -> list[str]:
    """Return the types of the geometries of a column, in their order; empty if others are among them."""
    import pyarrow as pa

    return types_in(pa.array(column.array, pa.large_binary(), from_pandas=True))


def types_in(values: pa.Array | pa.ChunkedArray) -> list[str]:
    """Return the types of geometries, shape (rows,); empty if bytes that are none are among them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    heads = pc.binary_slice(values.drop_null().cast(pa.large_binary()), 0, _HEAD_BYTES)
    if pc.min(pc.binary_length(heads)).as_py() != _HEAD_BYTES:
        return []
    chunks = heads.chunks if isinstance(heads, pa.ChunkedArray) else [heads]
    # The slices of a chunk are one after another in its buffer.
    pieces = np.concatenate(
        [np.frombuffer(each.buffers()[2], np.uint8, len(each) * _HEAD_BYTES) for each in chunks]
    ).reshape(-1, _HEAD_BYTES)
    numbers = np.unique(np.ascontiguousarray(pieces[:, 1:]).view("<u4"))
    is_known = numbers[0] >= 1 and numbers[-1] <= len(TYPES)
    if not is_known or (pieces[:, 0] != _LITTLE_ENDIAN).any():
        return []
    return [TYPES[number - 1] for number in numbers]


def geometries_of(column: pd.Series) -> np.ndarray:
    """Return the geometries of a column, shape (rows,); None for nulls.

    Raises
    ------
    InvalidSelectionError
        If bytes that begin as a geometry are none.
    """
    import shapely

    try:
        found: np.ndarray = shapely.from_wkb(column.to_numpy(object))
    except shapely.errors.ShapelyError as error:
        reason = shortened(str(error))
        raise InvalidSelectionError(
            f"column {column.name!r} has bytes without geometry: {reason}"
        ) from error
    return found


def rectangle(bounds: tuple[float, float, float, float]) -> shapely.Geometry:
    """Return the rectangle of the least x and y and the greatest ones; a line or a point without area.

    A polygon without area, as `shapely.box` makes it, does not intersect lines through it.
    """
    import shapely

    return shapely.envelope(shapely.MultiPoint([bounds[:2], bounds[2:]]))


def bounds_of(column: pd.Series) -> np.ndarray:
    """Return the least x and y, and the greatest ones, of geometries, shape (rows, 4); NaN for none."""
    import shapely

    found: np.ndarray = shapely.bounds(geometries_of(column))
    return found


def middles(column: pd.Series) -> np.ndarray:
    """Return the middles of the bounds of geometries, shape (rows, 2); NaN for none."""
    bounds = bounds_of(column)
    found: np.ndarray = (bounds[:, :2] + bounds[:, 2:]) / 2
    return found


def hilbert_order(bounds: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows along a Hilbert curve; rows without a place are the last ones.

    Parameters
    ----------
    bounds : np.ndarray
        As `bounds_of` returns them, shape (rows, 4); the curve goes through their middles.
    """
    import numpy as np

    distances = np.full(len(bounds), np.iinfo(np.int64).max)
    has_place = ~np.isnan(bounds).any(axis=1)
    if has_place.any():
        middle = (bounds[has_place, :2] + bounds[has_place, 2:]) / 2
        least = middle.min(axis=0)
        reach = np.maximum(middle.max(axis=0) - least, np.finfo(float).tiny)
        x, y = ((middle - least) / reach * (2**_CURVE_BITS - 1)).astype(np.int64).T
        distances[has_place] = _along_curve(x, y)
    return distances.argsort(kind="stable")


def _along_curve(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how far along a Hilbert curve cells are; coordinates have `_CURVE_BITS` bits."""
    import numpy as np

    found = np.zeros(len(x), np.int64)
    for bit in reversed(range(_CURVE_BITS)):
        right, upper = (x >> bit) & 1, (y >> bit) & 1
        found += ((3 * right) ^ upper) << (2 * bit)
        # Each quarter is a smaller curve, the two lower ones turned.
        is_mirrored = (upper == 0) & (right == 1)
        x, y = (np.where(is_mirrored, 2**_CURVE_BITS - 1 - each, each) for each in (x, y))
        x, y = np.where(upper == 0, y, x), np.where(upper == 0, x, y)
    return found


def with_empty(column: pd.Series) -> bool:
    """Return True if a geometry, or a part of one, has no coordinates."""
    import shapely

    parts = geometries_of(column)
    while len(parts):
        if shapely.is_empty(parts).any():
            return True
        parts = shapely.get_parts(parts[shapely.get_type_id(parts) >= _FIRST_OF_PARTS])
    return False


def with_nested_collections(column: pd.Series) -> bool:
    """Return True if a part of a collection has parts itself."""
    import shapely

    geometries = geometries_of(column)
    parts = shapely.get_parts(geometries[shapely.get_type_id(geometries) == _COLLECTION])
    return bool((shapely.get_type_id(parts) >= _FIRST_OF_PARTS).any())


def with_long_coordinates(column: pd.Series) -> bool:
    """Return True if a coordinate has more than 12 decimals, or is not below 1,000, or not a number."""
    import numpy as np
    import shapely

    coordinates = shapely.get_coordinates(geometries_of(column))
    is_short = (np.round(coordinates, _SHORT_DECIMALS) == coordinates) & (
        np.abs(coordinates) < _SHORT_LIMIT
    )
    return not is_short.all()
