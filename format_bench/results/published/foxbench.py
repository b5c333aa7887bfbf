"""FoxBench's published tables as records: forty queries to a year of ERA5, and sizes of five durations.

Osterthun and Pohl: FoxBench (2025). The tables are the CSV files beside this module. Each value is one
number without repeats; the tables do not record the state of the page cache. All were read through
xarray: Zarr by zarr-python 2.18, NetCDF4 by h5netcdf, TileDB by tiledb-cf, and TensorStore by its driver
for xarray (the paper's table 6 and figure 2d). Chunks are 1 x 50 x 100 values, with LZ4 at level 6: the
track "paper" of the suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from format_bench.results.published.figures import figure, rows_of
from format_bench.results.records import Record

SUITE, TRACK = "foxbench", "paper"

STORES = {
    "netCDF4": "NetCDF4[xarray-h5netcdf]",
    "Zarr": "Zarr.dir[xarray]",
    "TileDB": "TileDB[xarray]",
    "TensorStore": "Zarr[xarray-tensorstore]",
}
"""Labels of the stacks by the names of the published table of times."""

FORMATS = {
    "NetCDF4": "NetCDF4[xarray-h5netcdf]",
    "Zarr": "Zarr.dir[xarray]",
    "TileDB": "TileDB[xarray]",
    "Parquet": "Parquet",
    "CSV": "CSV",
}
"""Labels by the names of the published table of sizes."""

BOTH = "era5-hourly-both"
"""Data set of the published sizes: both variables together."""

DATASETS = {"t2m": "era5-hourly", "stl": "era5-hourly-soil"}
"""Data set of each variable."""

HOURS = {"week": 168, "fortnight": 336, "month": 744, "quarter": 2_208, "year": 8_760}
"""Rows of the data sets by duration."""

GIGABYTE = 1_000_000_000

SENTENCE = "published in Osterthun and Pohl, FoxBench (2025); one value"

_METRICS = {"read": "query time", "write": "answer write time"}

# Queries from this number on ask the soil temperature.
_FIRST_OF_SOIL = 29


def records() -> list[Record]:
    """Return a record for each figure: times of queries on the year, and sizes."""
    return [replace(each, sentence=SENTENCE, run_id="foxbench") for each in (*_times(), *_sizes())]


def _times() -> Iterator[Record]:
    for row in rows_of("foxbench_year"):
        variable = "stl" if int(row["query"].removeprefix("Q")) >= _FIRST_OF_SOIL else "t2m"
        label, metric = STORES[row["store"]], _METRICS[row["operation"]]
        where = DATASETS[variable], (HOURS["year"], 1)
        yield replace(_figure(label, *where, metric, float(row["seconds"])), query=row["query"])


def _sizes() -> Iterator[Record]:
    for row in rows_of("foxbench_storage"):
        for duration, hours in HOURS.items():
            if row[f"{duration}_GB"]:
                size = float(row[f"{duration}_GB"]) * GIGABYTE
                yield _figure(FORMATS[row["format"]], BOTH, (hours, 2), "size", size)


def _figure(label: str, dataset: str, shape: tuple[int, int], metric: str, value: float) -> Record:
    found = figure(SUITE, label, dataset, shape, metric, value, rounding=GIGABYTE / 200)
    if label in {"Parquet", "CSV"}:
        return found  # without chunks
    return replace(found, codec="lz4", level=6, conditions={"threads": "all", "track": TRACK})
