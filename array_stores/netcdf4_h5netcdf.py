"""NetCDF-4 through h5netcdf."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, ArrayStore, Trait
from adapter_core.array_description import Description
from adapter_core.arrays import hdf5, netcdf
from adapter_core.arrays.chunk_writing import write_chunks

if TYPE_CHECKING:
    import h5netcdf
    import numpy as np

    from adapter_core import ArraySource
    from adapter_core.array_source import Selection


class Adapter(ArrayStore):
    """A netCDF-4 file with one variable, its dimensions and coordinate variables.

    h5netcdf opens the HDF5 dataset anew for each selection. The chunk cache exists as long as any
    handle of the dataset, so that readers keep one: else each selection would decode its chunks again.

    Codecs are those of HDF5 that the netCDF C library reads, too. The first dimension is unlimited. The
    format is https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html.
    """

    label = "NetCDF4[h5netcdf]"
    suffix = ".nc"
    requires = ("h5netcdf", "h5py", "hdf5plugin")
    dtypes: ClassVar = netcdf.DTYPES
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    codecs: ClassVar = tuple(
        codec
        for codec in hdf5.CODECS
        if codec.name.startswith(("gzip", "szip", "bzip2", "zstd", "blosc:"))
        and codec.name != "zstd+bitshuffle"
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = netcdf.refused_properties(source) or hdf5.refused_by(codec, source)
        if reason:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import h5netcdf
        import h5py

        with (
            h5py.File(path, "w", rdcc_nbytes=0, track_order=True) as hdf,
            h5netcdf.File(hdf, "r+") as file,
        ):
            for name, length in netcdf.dimension_limits(source).items():
                file.dimensions[name] = length
                if length is None:
                    file.resize_dimension(name, source.shape[source.dims.index(name)])
            for name, values in source.coordinates.items():
                if name in source.dims:
                    file.create_variable(name, (name,), data=values)
            options = {"chunks": source.chunks, **hdf5.filter_options(codec, level)}
            variable = file.create_variable(
                source.name, source.dims, source.dtype, **(options if source.shape else {})
            )
            variable.attrs.update(source.attributes)
            _kept = hdf[source.name]
            write_chunks(variable, source)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _append(self, source: ArraySource, path: Path) -> None:
        import h5netcdf
        import h5py

        with h5py.File(path, "r+", rdcc_nbytes=0) as hdf, h5netcdf.File(hdf, "r+") as file:
            variable = _variable(file)
            first_row = variable.shape[0]
            name = variable.dimensions[0]
            file.resize_dimension(name, first_row + source.shape[0])
            _kept = hdf5.reopened_with_cache(hdf, variable.name)
            write_chunks(variable, source, first_row)
            if name in file.variables and name in source.coordinates:
                file.variables[name][first_row:] = source.coordinates[name]

    def _codec_used(self, path: Path) -> str | None:
        import h5netcdf
        import h5py

        with h5py.File(path) as hdf, h5netcdf.File(hdf) as file:
            return hdf5.codec_of(hdf[_variable(file).name])

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
    def __init__(self, path: Path) -> None:
        import h5netcdf
        import h5py

        self._hdf = h5py.File(path)
        self._file = h5netcdf.File(self._hdf)
        self._variable = variable = _variable(self._file)
        self._kept = hdf5.reopened_with_cache(self._hdf, variable.name)
        dims = variable.dimensions
        super().__init__(
            Description(
                variable.shape,
                variable.dtype,
                variable.chunks or variable.shape,
                variable.name.removeprefix("/"),
                dims,
                {name: hdf5.attribute_of(value) for name, value in variable.attrs.items()},
                {name: self._file.variables[name][()] for name in dims if name in self._file.variables},
            )
        )

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.asarray(self._variable[selection])

    def close(self) -> None:
        self._file.close()
        self._hdf.close()


def _variable(file: h5netcdf.File) -> h5netcdf.Variable:
    """Return the variable that is not a dimension's."""
    return next(each for name, each in file.variables.items() if name not in file.dimensions)
