"""NetCDF-4 through xarray and netCDF4-python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, Snippet, Trait
from adapter_core.arrays.netcdf4 import NetCDF4Store
from adapter_core.arrays.xarray import XarrayStore, loaded, netcdf_encoding

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(XarrayStore, NetCDF4Store):
    """The file of `NetCDF4`, read by xarray's engine `netcdf4`.

    xarray leaves netCDF's chunk cache as it is, where `NetCDF4` chooses its size.

    https://docs.xarray.dev/en/stable/generated/xarray.open_dataset.html
    """

    label = "NetCDF4[xarray]"
    suffix = ".nc"
    requires = ("netCDF4", "xarray")
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    snippet = Snippet(
        imports="import xarray",
        write="""
            encoding = {array.name: dict(chunksizes=chunks, _FillValue=None, {options})}
            array.to_netcdf({path}, engine="netcdf4", encoding=encoding)
        """,
        read="""
            options = {"engine": "netcdf4", "cache": False, "decode_cf": False}
            with xarray.open_dataset({path}, **options) as dataset:
                array = dataset["values"].load()
        """,
        given=Given.LABELLED,
    )

    def _dataset(self, path: Path) -> Any:
        return loaded().open_dataset(path, engine="netcdf4", cache=False, decode_cf=False)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        encoding = netcdf_encoding(answer)
        dataset.to_netcdf(path, engine="netcdf4", encoding=encoding)
