"""Small n-d arrays with edge cases of dtypes, shapes, values, attributes, coordinates and names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import ArraySource
from adapter_core.array_store import ALL_DTYPES

if TYPE_CHECKING:
    import numpy as np

DTYPES = sorted(ALL_DTYPES)

SHAPES = {
    "0-d": ((), ()),
    "1-d, ragged": ((11,), (4,)),
    "2-d": ((6, 10), (3, 10)),
    "3-d, ragged in all": ((5, 7, 9), (2, 3, 4)),
    "4-d, one image a chunk": ((4, 3, 8, 12), (1, 3, 8, 12)),
    "5-d": ((2, 2, 3, 4, 5), (1, 2, 3, 2, 5)),
    "one chunk": ((3, 4), (3, 4)),
    "chunk larger than the array": ((3, 4), (8, 8)),
    "edge of 1": ((1, 1, 1), (1, 1, 1)),
}
"""Shapes of arrays and of their chunks."""


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return values of a shape and dtype, in C order, without special ones."""
    import numpy as np

    count = int(np.prod(shape))
    numbers = np.arange(count) * 7 % 113
    if dtype == "bool":
        return (numbers % 3 == 0).reshape(shape)
    kind = np.dtype(dtype).kind
    return (numbers * (1 if kind in "iu" else 0.25)).astype(dtype).reshape(shape)


def described() -> dict[str, Any]:
    """Return all properties of an array of shape (4, 24, 32)."""
    import numpy as np

    return {
        "name": "t2m",
        "dims": ("time", "latitude", "longitude"),
        "attributes": {
            "units": "K",
            "long_name": "2 metre température",
            "level": 2,
            "offset": 273.15,
            "range": [180.5, 330.25],
            "steps": [1, 3, 6],
        },
        "coordinates": {
            "time": np.arange(4, dtype="int64") * 6 + 1_051_896,
            "latitude": np.linspace(60.0, 54.25, 24),
            "longitude": np.linspace(0.0, 7.75, 32, dtype="float32"),
        },
        "coordinate_attributes": {
            "time": {"units": "hours since 1900-01-01", "calendar": "standard", "steps": [1, 3, 6]},
            "latitude": {"units": "degrees_north", "valid_max": 90.0},
        },
    }


def edge_case_arrays() -> dict[str, ArraySource]:
    """Return arrays by their names."""
    return {**_dtypes(), **_shapes(), **_values(), **_attributes(), **_labels()}


def _dtypes() -> dict[str, ArraySource]:
    return {f"{dtype} values": ArraySource.of(values((4, 6), dtype), (2, 6)) for dtype in DTYPES}


def _shapes() -> dict[str, ArraySource]:
    import numpy as np

    shapes = {
        f"shape: {name}": ArraySource.of(values(shape, "int32"), chunks)
        for name, (shape, chunks) in SHAPES.items()
    }
    return {**shapes, "no values": ArraySource.of(np.empty((0, 3), "int32"), (2, 3))}


def _values() -> dict[str, ArraySource]:
    return {
        "smallest and largest integers": _one([2**63 - 1, -(2**63), 2**53 + 1, 0], "int64"),
        "largest unsigned integers": _one([2**64 - 1, 2**63, 1, 0], "uint64"),
        "floats with 17 digits": _one([0.1 + 0.2, 1 / 3, 1e300 / 7, -5e-324], "float64"),
        "float32 with 9 digits": _one([0.1, 1 / 3, 1e30 / 7, 16777217], "float32"),
        "NaN": _one([1.5, math.nan, 2.5, math.nan], "float64"),
        "infinity": _one([math.inf, -math.inf, 0.0, 1.0], "float32"),
        "minus zero": _one([-0.0, 0.0, 1.0, -1.0], "float64"),
        "chunks of zeros": _one([0, 0, 0, 7], "int16"),
        "default fill values of netCDF": _one([-32767, 32767, 0, -1], "int16"),
    }


def _one(numbers: list[Any], dtype: str, **facts: Any) -> ArraySource:
    """Return an array of four numbers in two chunks."""
    import numpy as np

    return ArraySource.of(np.array(numbers, dtype), (2,), **facts)


def _attributes() -> dict[str, ArraySource]:
    sets: dict[str, dict[str, Any]] = {
        "text": {"units": "K", "long_name": "température", "empty": "", "lines": "a\nb"},
        "integers": {"level": 2, "wide": 2**53 + 1, "least": -(2**63), "none": 0},
        "floats": {"offset": 273.15, "whole": 1.0, "minus_zero": -0.0, "tiny": 5e-324},
        "not finite": {"missing": math.nan, "most": math.inf, "least": -math.inf},
        "lists": {"steps": [1, 3, 6], "range": [180.5, 330.25]},
        "lists of one value": {"steps": [3], "range": [180.5]},
        "lists without values": {"steps": []},
        "scale and offset": {"scale_factor": 0.5, "add_offset": 10.0},
        "units of time": {"units": "days since 2000-01-01", "calendar": "standard"},
        "missing value": {"missing_value": 2, "valid_max": 3},
        "fill value": {"_FillValue": 2},
    }
    return {
        f"attributes: {name}": _one([1, 2, 3, 4], "int32", attributes=of) for name, of in sets.items()
    }


def _labels() -> dict[str, ArraySource]:
    import numpy as np

    lines = {"latitude": np.array([60.0, 59.75, 59.5, 59.25], "float32")}
    return {
        "coordinates": ArraySource.of(values((4, 24, 32), "float32"), (1, 24, 32), **described()),
        "coordinates that descend": _one([1, 2, 3, 4], "int32", dims=("latitude",), coordinates=lines),
        "names with blanks": _one([1, 2, 3, 4], "int32", name="air temp", dims=("the place",)),
        "names in many scripts": _one([1, 2, 3, 4], "int32", name="温度", dims=("été",)),
    }
