"""Synthetic surface weather after ERA5: pressure, water vapour and wind, hour by hour.

``era5-like`` has the size and the moments of the data with which Gardoll (IPSL, 2023) compared array
formats: 896 chunks of 3 x 560 x 1440 float32 of the reanalysis ERA5 (Hersbach et al., The ERA5 global
reanalysis, Q. J. R. Meteorol. Soc. 146, 2020). ``era5-small`` is a region of the same resolution.
`data_generator.synthetic.weather` describes the fields.

Compressed sizes as parts of the raw ones, next to published ones of ERA5 in float32: pressure takes 0.28
to 0.53 with the byte shuffle of Blosc and 0.31 to 0.37 with its bit shuffle; published are 0.27 to 0.43
and 0.25 to 0.29 (https://www.blosc.org/posts/bytedelta-enhance-compression-toolset, 2023). zstd alone
leaves 0.58 of all variables; published for others is 0.67 (https://doi.org/10.5194/egusphere-2025-3147).
Wind takes 0.47 to 0.63 with byte shuffle; published are 0.15 to 0.25, fewer bits than a smooth field of
16 bits needs, which suggests that those data had been rounded further.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.lazy_arrays import stepwise
from data_generator.synthetic.weather import Grid, Variable, Weather

if TYPE_CHECKING:
    import numpy as np


GRIDS = {
    "era5-like": Grid(rows=560, columns=1440, coarse_rows=18, coarse_columns=45),
    # From 60 to 25.25 degrees north.
    "era5-small": Grid(rows=140, columns=360, coarse_rows=5, coarse_columns=12, top=40),
}
WEST = {"era5-like": 0, "era5-small": -45}
DEGREES_PER_CELL = 0.25

VARIABLES = (
    Variable(
        "msl",
        mean=101_020,
        deviation=1_225,
        unit_bits=13,
        amplitudes=(500, 256, 64, 16, 4, 1, 0),
        profile=(0, 30, 80, 0, 10, 90, -40, -200),
        spread=(240, 256, 80, 30, 30, 80, 256, 256),
        relief=20,
    ),
    Variable(
        "tcwv",
        mean=23.0,
        deviation=5.7,
        unit_bits=21,
        amplitudes=(300, 256, 128, 64, 32, 14, 4),
        profile=(-200, -120, 20, 170, 180, 20, -120, -220),
        spread=(80, 180, 256, 240, 240, 256, 170, 70),
        relief=-60,
        least=0.05,
    ),
    Variable(
        "u10",
        mean=0.14,
        deviation=5.66,
        unit_bits=21,
        amplitudes=(300, 256, 128, 64, 28, 8, 2),
        profile=(0, 60, 0, -180, -200, 0, 200, -50),
        spread=(256, 256, 160, 130, 130, 160, 256, 240),
        relief=30,
    ),
)

ATTRIBUTES = {
    "Conventions": "CF-1.11",
    "long_name": "mean sea level pressure, total column water vapour, 10 metre U wind component",
    "short_names": "msl tcwv u10",
    "units": "Pa, kg m-2, m s-1",
    "time_units": "hours since 1900-01-01 00:00:00",
    "time_calendar": "gregorian",
    "variable_long_name": "parameter of ECMWF's GRIB table 128",
    "latitude_units": "degrees_north",
    "longitude_units": "degrees_east",
}
PARAMETERS = (151, 137, 165)
# 2020-01-01.
FIRST_HOUR = 1_051_896


def _array(name: str, count: int, seed: int) -> Dataset:
    import numpy as np

    grid = GRIDS[name]
    coordinates = {
        "time": np.arange(FIRST_HOUR, FIRST_HOUR + count, dtype=np.int64),
        "variable": np.array(PARAMETERS, np.int64),
        "latitude": 70 - DEGREES_PER_CELL * np.arange(grid.top, grid.top + grid.rows),
        "longitude": WEST[name] + DEGREES_PER_CELL * np.arange(grid.columns),
    }
    array = stepwise(
        partial(_step, name, seed),
        count,
        (len(VARIABLES), grid.rows, grid.columns),
        "float32",
        name="surface",
        dims=tuple(coordinates),
        attributes=ATTRIBUTES,
        coordinates=coordinates,
    )
    return Dataset(name, array=array)


def _step(name: str, seed: int, number: int) -> np.ndarray:
    import numpy as np

    grid = GRIDS[name]
    fields = np.empty((len(VARIABLES), grid.rows, grid.columns), np.float32)
    for field, weather in zip(fields, _weather(name, seed), strict=True):
        weather.step(number, field)
    return fields


@lru_cache(maxsize=2)
def _weather(name: str, seed: int) -> list[Weather]:
    return [Weather(variable, GRIDS[name], seed) for variable in VARIABLES]


DATASETS = (
    DatasetDefinition(
        name="era5-like",
        family="arrays",
        description="hourly pressure, vapour and wind after ERA5, chunks of 3 x 560 x 1440 float32",
        make=partial(_array, "era5-like"),
        default_count=896,
        quick_count=16,
    ),
    DatasetDefinition(
        name="era5-small",
        family="arrays",
        description="the same of a region, chunks of 3 x 140 x 360 float32",
        make=partial(_array, "era5-small"),
        default_count=896,
    ),
)
