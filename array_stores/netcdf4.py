"""NetCDF-4 through netCDF4-python."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, Description, Trait
from adapter_core.array_source import grid_of, shape_of
from adapter_core.arrays import hdf5
from adapter_core.arrays.netcdf4 import NetCDF4Store, variable_of
from adapter_core.arrays.on_demand import OnDemand
from adapter_core.arrays.packing import OFFSET, PACKED, SCALE, Packing

if TYPE_CHECKING:
    import netCDF4
    import numpy as np

    from adapter_core import ArraySource, Attribute, Selection


class Adapter(NetCDF4Store):
    """A netCDF-4 file with one variable, its dimensions and coordinate variables.

    Values are not masked or scaled, except where a codec packs floats as the CF conventions have it.
    The chunk cache of a compressed array suits the file, see `adapter_core.arrays.hdf5.cache_of`.
    """

    label = "NetCDF4"
    suffix = ".nc"
    requires = ("netCDF4",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    codecs: ClassVar = (*NetCDF4Store.codecs, PACKED)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def library_chunks(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
        import netCDF4

        with netCDF4.Dataset("guess", "w", memory=2**20) as file:
            names = [f"dim_{axis}" for axis in range(len(shape))]
            for name, edge in zip(names, (None, *shape[1:]), strict=True):
                file.createDimension(name, edge)
            found = file.createVariable("x", dtype, names).chunking()
            # Contiguous only without an unlimited dimension.
            return tuple(map(int, found))

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign the chunks to a variable of `netCDF4`."""
        import netCDF4

        with netCDF4.Dataset(path, "w") as file:
            for name, edge in zip(source.dims, source.shape, strict=True):
                file.createDimension(name, edge)
            variable = file.createVariable("x", source.dtype, source.dims, chunksizes=source.chunks)
            for selection, values in source:
                variable[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Index the variable by each index of its first dimension."""
        import netCDF4

        with netCDF4.Dataset(path) as file:
            variable = file["x"]
            return len([variable[index].shape for index in range(len(variable))])


class _Reader(ArrayReader):
    """An open file; its attributes and coordinates are read on demand."""

    def __init__(self, path: Path) -> None:
        import netCDF4
        import numpy as np

        self._file = netCDF4.Dataset(path)
        self._variable = variable = variable_of(self._file)
        self._packing = Packing.of(variable)
        dims = variable.dimensions
        shape = variable.shape
        chunks = tuple(variable.chunking()) if shape else ()
        if shape and any(variable.filters().values()):
            slots, size_bytes, preemption = hdf5.cache_of(
                math.prod(chunks) * variable.dtype.itemsize,
                row_chunks=math.prod(grid_of(shape, chunks)[1:]),
            )
            variable.set_var_chunk_cache(size_bytes, slots, preemption)
        lines = {name: self._file[name] for name in dims if name in self._file.variables}
        super().__init__(
            Description(
                shape,
                self._packing.dtype if self._packing else np.dtype(variable.dtype),
                chunks,
                variable.name,
                dims,
                _attributes(variable, (SCALE, OFFSET, "_FillValue") if self._packing else ()),
                OnDemand(lines, _values),
                OnDemand(lines, _attributes),
            )
        )

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        if 0 in shape_of(selection):
            return np.empty(shape_of(selection), self.dtype)
        found = np.asarray(self._variable[selection or ...])
        return self._packing.unpacked(found) if self._packing else found

    def close(self) -> None:
        if self._file.isopen():
            self._file.close()


def _values(line: netCDF4.Variable[Any]) -> np.ndarray:
    import numpy as np

    line.set_auto_maskandscale(False)
    return np.asarray(line[:])


def _attributes(
    variable: netCDF4.Variable[Any], hidden: Collection[str] = ()
) -> Mapping[str, Attribute]:
    def names() -> dict[str, str]:
        shown = (name for name in variable.ncattrs() if not name.startswith("_Quantize"))
        return {name: name for name in shown if name not in hidden}

    return OnDemand(names, lambda name: hdf5.attribute_of(variable.getncattr(name)))
