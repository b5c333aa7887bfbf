"""NetCDF-4 through xarray and h5netcdf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, Snippet, Trait
from adapter_core.arrays import hdf5
from adapter_core.arrays.h5netcdf import H5NetCDFStore
from adapter_core.arrays.xarray import XarrayStore, loaded, netcdf_encoding

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(XarrayStore, H5NetCDFStore):
    """The file of `NetCDF4[h5netcdf]`, read by xarray's engine `h5netcdf`.

    h5netcdf opens the HDF5 dataset anew for each selection, and HDF5's chunk cache ends with it: each
    query decodes all the chunks that it touches, also those that the one before has decoded. Readers of
    `NetCDF4[h5netcdf]` keep a handle of the dataset against that; here it is measured as users have it.

    https://docs.xarray.dev/en/stable/generated/xarray.open_dataset.html
    """

    label = "NetCDF4[xarray-h5netcdf]"
    suffix = ".nc"
    requires = ("h5netcdf", "h5py", "hdf5plugin", "xarray")
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    snippet = Snippet(
        imports="import hdf5plugin\nimport xarray",
        write="""
            encoding = {array.name: dict(chunksizes=chunks, _FillValue=None, {options})}
            array.to_netcdf({path}, engine="h5netcdf", encoding=encoding)
        """,
        read="""
            options = {"engine": "h5netcdf", "cache": False, "decode_cf": False}
            with xarray.open_dataset({path}, **options) as dataset:
                array = dataset["values"].load()
        """,
        given=Given.LABELLED,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": hdf5.filter_code(codec, level)}

    def _dataset(self, path: Path) -> Any:
        hdf5.registered_plugin()
        return loaded().open_dataset(path, engine="h5netcdf", cache=False, decode_cf=False)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        encoding = netcdf_encoding(answer)
        dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding)
