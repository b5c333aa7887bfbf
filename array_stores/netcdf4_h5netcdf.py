"""NetCDF-4 through h5netcdf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, Description, Trait
from adapter_core.arrays import hdf5
from adapter_core.arrays.h5netcdf import H5NetCDFStore, variable_of
from adapter_core.arrays.on_demand import OnDemand

if TYPE_CHECKING:
    import h5netcdf
    import numpy as np

    from adapter_core import ArraySource, Attribute, Selection


class Adapter(H5NetCDFStore):
    """A netCDF-4 file with one variable, its dimensions and coordinate variables.

    h5netcdf opens the HDF5 dataset anew for each selection. The chunk cache exists as long as any
    handle of the dataset, so that readers keep one: else each selection would decode its chunks again.
    """

    label = "NetCDF4[h5netcdf]"
    suffix = ".nc"
    requires = ("h5netcdf", "h5py", "hdf5plugin")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign the chunks to a variable of `h5netcdf`."""
        import h5netcdf

        with h5netcdf.File(path, "w") as file:
            file.dimensions = dict(zip(source.dims, source.shape, strict=True))
            variable = file.create_variable("x", source.dims, source.dtype, chunks=source.chunks)
            for selection, values in source:
                variable[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Index the variable by each index of its first dimension."""
        import h5netcdf

        with h5netcdf.File(path) as file:
            variable = file.variables["x"]
            return len([variable[index].shape for index in range(len(variable))])


class _Reader(ArrayReader):
    """An open file; its attributes and coordinates are read on demand."""

    def __init__(self, path: Path) -> None:
        import h5netcdf
        import h5py

        self._hdf = h5py.File(path)
        self._file = h5netcdf.File(self._hdf)
        self._variable = variable = variable_of(self._file)
        self._kept = hdf5.reopened_with_cache(self._hdf, variable.name)
        dims = variable.dimensions
        lines = {name: self._file.variables[name] for name in dims if name in self._file.variables}
        super().__init__(
            Description(
                variable.shape,
                variable.dtype,
                variable.chunks or variable.shape,
                variable.name.removeprefix("/"),
                dims,
                _attributes(variable),
                OnDemand(lines, lambda line: line[()]),
                OnDemand(lines, _attributes),
            )
        )

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.asarray(self._variable[selection])

    def close(self) -> None:
        self._file.close()
        self._hdf.close()


def _attributes(variable: h5netcdf.Variable) -> Mapping[str, Attribute]:
    def names() -> dict[str, str]:
        return {name: name for name in variable.attrs}

    return OnDemand(names, lambda name: hdf5.attribute_of(variable.attrs[name]))
