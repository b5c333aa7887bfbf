"""NetCDF-4 through xarray and h5netcdf."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Trait
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

    def _dataset(self, path: Path) -> Any:
        hdf5.registered_plugin()
        return loaded().open_dataset(path, engine="h5netcdf", cache=False, decode_cf=False)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        encoding = netcdf_encoding(answer)
        dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding)
