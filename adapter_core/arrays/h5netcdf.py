"""Base class of array stores that h5netcdf writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import IN_PLACE, Appendable, ArraySource
from adapter_core.arrays import hdf5, netcdf
from adapter_core.arrays.chunk_writing import write_chunks
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import h5netcdf


class H5NetCDFStore(Appendable):
    """A netCDF-4 file with one variable, its dimensions and coordinate variables.

    Codecs are HDF5's that the netCDF C library reads, too. The first dimension is unlimited. The
    format is https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html.
    """

    local_only = IN_PLACE
    dtypes: ClassVar = netcdf.DTYPES
    codecs: ClassVar = tuple(
        codec
        for codec in hdf5.CODECS
        if codec.name.startswith(("gzip", "szip", "bzip2", "zstd", "blosc:"))
        and codec.name != "zstd+bitshuffle"
        and not codec.error
    )
    file_facts = FileFacts(
        version="superblock 0", parts={"layout": "chunked", "chunks": "as asked"}, threads="one"
    )
    snippet = Snippet(
        imports="import h5netcdf\nimport hdf5plugin",
        write="""
            with h5netcdf.File({path}, "w") as file:
                dims = [f"dim_{axis}" for axis in range(array.ndim)]
                file.dimensions = dict(zip(dims, array.shape))
                file.create_variable("values", dims, data=array, chunks=chunks, {filters})
        """,
        read="""
            with h5netcdf.File({path}) as file:
                array = file.variables["values"][()]
        """,
        given=Given.ARRAY,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"filters": hdf5.filter_code(codec, level)}

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
                    coordinate = file.create_variable(name, (name,), data=values)
                    coordinate.attrs.update(source.coordinate_attributes.get(name, {}))
            options = {"chunks": source.chunks, **hdf5.filter_options(codec, level)}
            variable = file.create_variable(
                source.name, source.dims, source.dtype, **(options if source.shape else {})
            )
            variable.attrs.update(source.attributes)
            _kept = hdf[source.name]
            write_chunks(variable, source)

    def _append(self, source: ArraySource, path: Path) -> None:
        import h5netcdf
        import h5py

        with h5py.File(path, "r+", rdcc_nbytes=0) as hdf, h5netcdf.File(hdf, "r+") as file:
            variable = variable_of(file)
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
            return hdf5.codec_of(hdf[variable_of(file).name])


def variable_of(file: h5netcdf.File) -> h5netcdf.Variable:
    """Return the variable that is not a dimension's."""
    return next(each for name, each in file.variables.items() if name not in file.dimensions)
