"""Synthetic temperature of air and soil after ERA5, hour by hour.

``era5-hourly`` and ``era5-hourly-soil`` have the grid, names and packing of the data with which
Osterthun and Pohl (FoxBench, 2025) compared array formats: 2 m temperature, and soil temperature in
four layers, of the reanalysis ERA5 (Hersbach et al., The ERA5 global reanalysis, Q. J. R. Meteorol.
Soc. 146, 2020). Data sets with the suffix ``-1deg`` are every fourth row and column.
`data_generator.synthetic.temperature` describes the fields.

Soil temperature is missing (NaN) at sea, as in ERA5-Land, whose fields are masked for all oceans
(ECMWF, ERA5-Land: data documentation). The published size of CSV, 56.85 bytes for each time, place and
layer, is as in such data: Polars writes 56.84 of these, and would need 60.6 with values at sea.

Sizes of a week in GB, both variables, chunks of 1 x 50 x 100 (x 1), next to the published ones:

======================================  ====  =======  =========  ==============
store and codec                         ours  to Zarr  published  published, to Zarr
======================================  ====  =======  =========  ==============
Zarr, Blosc's LZ4 6 and byte shuffle    1.02  1.00     0.86       1.00
NetCDF-4 (HDF5), LZ4                    1.42  1.40     1.13       1.31
TileDB, LZ4                             1.41  1.39     1.06       1.23
the same, with byte shuffle             1.00  0.98
NetCDF-4, Blosc's LZ4 6, byte shuffle   1.03  1.01
CSV, Polars                             39.7  39.0     39.66      46.1
======================================  ====  =======  =========  ==============

The published ratios are met within 15 % if Zarr alone shuffles bytes, which is the default of its
Blosc; with shuffling everywhere the three are equal. Absolute sizes are 18 to 33 % larger. If air
temperature, too, were missing at sea, sizes would be 0.81 (Zarr), 1.06 (HDF5) and 1.05 (TileDB),
within 7 % of the published, but CSV would take 37 GB. Parquet takes 11.0 bytes a row in the
publication, as if both values took 4 bytes and coordinates 3; with dictionaries and a codec, it takes
1.6 (zstd) to 4.8 (snappy) here.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_arrays import stepwise
from data_generator.synthetic.coast import COLUMNS, ROWS
from data_generator.synthetic.temperature import AIR, SOIL, Temperature

if TYPE_CHECKING:
    import numpy as np


# 2020-01-01, in hours since 1900-01-01.
FIRST_HOUR = 1_051_896
HOURS_A_WEEK = 168


DEGREES_PER_CELL = 0.25

# https://cfconventions.org/Data/cf-conventions/cf-conventions-1.11/cf-conventions.html
ATTRIBUTES = {"Conventions": "CF-1.11", "units": "K"}
COORDINATE_ATTRIBUTES = {
    "time": {
        "units": "hours since 1900-01-01 00:00:00",
        "calendar": "standard",
        "standard_name": "time",
        "long_name": "time",
        "axis": "T",
    },
    "latitude": {
        "units": "degrees_north",
        "standard_name": "latitude",
        "long_name": "latitude",
        "axis": "Y",
    },
    "longitude": {
        "units": "degrees_east",
        "standard_name": "longitude",
        "long_name": "longitude",
        "axis": "X",
    },
    "altitude": {
        "units": "1",
        "long_name": "layer of soil: 0 to 7, 7 to 28, 28 to 100, 100 to 289 cm",
        "positive": "down",
        "axis": "Z",
    },
}


def _shape(stride: int) -> tuple[int, int]:
    return -(-ROWS // stride), COLUMNS // stride


def _air(name: str, stride: int, count: int, seed: int) -> Dataset:
    coordinates = _coordinates(stride, count)
    array = stepwise(
        partial(_air_step, stride, seed),
        count,
        _shape(stride),
        "float32",
        name="t2m",
        dims=tuple(coordinates),
        attributes=ATTRIBUTES | {"long_name": "2 metre temperature", "standard_name": "air_temperature"},
        coordinates=coordinates,
        coordinate_attributes={name: COORDINATE_ATTRIBUTES[name] for name in coordinates},
    )
    return Dataset(name, array=array)


def _soil(name: str, stride: int, count: int, seed: int) -> Dataset:
    import numpy as np

    coordinates = _coordinates(stride, count) | {"altitude": np.arange(1, len(SOIL) + 1, dtype=np.int64)}
    array = stepwise(
        partial(_soil_step, stride, seed),
        count,
        (*_shape(stride), len(SOIL)),
        "float32",
        name="stl",
        dims=tuple(coordinates),
        attributes=ATTRIBUTES | {"long_name": "soil temperature", "standard_name": "soil_temperature"},
        coordinates=coordinates,
        coordinate_attributes={name: COORDINATE_ATTRIBUTES[name] for name in coordinates},
    )
    return Dataset(name, array=array)


def _coordinates(stride: int, count: int) -> dict[str, np.ndarray]:
    import numpy as np

    rows, columns = _shape(stride)
    return {
        "time": np.arange(FIRST_HOUR, FIRST_HOUR + count, dtype=np.int64),
        "latitude": 90 - DEGREES_PER_CELL * stride * np.arange(rows),
        "longitude": -180 + DEGREES_PER_CELL * stride * np.arange(columns),
    }


def _air_step(stride: int, seed: int, number: int) -> np.ndarray:
    import numpy as np

    field = np.empty(_shape(stride), np.float32)
    _layers(stride, seed)[0].at(FIRST_HOUR + number, field)
    return field


def _soil_step(stride: int, seed: int, number: int) -> np.ndarray:
    import numpy as np

    fields = np.empty((len(SOIL), *_shape(stride)), np.float32)
    for field, layer in zip(fields, _layers(stride, seed)[1:], strict=True):
        layer.at(FIRST_HOUR + number, field)
    return np.ascontiguousarray(np.moveaxis(fields, 0, -1))


@lru_cache(maxsize=2)
def _layers(stride: int, seed: int) -> list[Temperature]:
    return [Temperature(layer, stride, seed) for layer in (AIR, *SOIL)]


def _definitions(stride: int, suffix: str, grid: str) -> tuple[DatasetDefinition, ...]:
    air, soil = f"era5-hourly{suffix}", f"era5-hourly-soil{suffix}"
    return (
        DatasetDefinition(
            name=air,
            family="arrays",
            description=f"hourly 2 m temperature after ERA5, chunks of {grid} float32",
            make=partial(_air, air, stride),
            default_count=HOURS_A_WEEK,
        ),
        DatasetDefinition(
            name=soil,
            family="arrays",
            description=f"hourly soil temperature at 4 levels after ERA5, chunks of {grid} x 4 float32",
            make=partial(_soil, soil, stride),
            default_count=HOURS_A_WEEK,
        ),
    )


DATASETS = (
    *_definitions(1, "", "721 x 1440"),
    *_definitions(4, "-1deg", "181 x 360"),
)
