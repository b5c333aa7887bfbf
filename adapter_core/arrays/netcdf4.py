"""Base class of array stores that netCDF4-python writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import IN_PLACE, Appendable, ArraySource, Codec, ErrorScale
from adapter_core.arrays import hdf5, netcdf
from adapter_core.arrays.chunk_writing import write_chunks
from adapter_core.arrays.packing import DTYPE, FILL, OFFSET, PACKED, SCALE, PackedVariable, Packing
from adapter_core.error_bounds import BoundKind, ErrorBound, error_of
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet, keywords, literal

if TYPE_CHECKING:
    import netCDF4


_BLOSC = {"blosclz": "blosc_lz"} | {name: f"blosc_{name}" for name in ("lz4", "lz4hc", "zlib", "zstd")}
_SHUFFLES = {"noshuffle": 0, "": 1, "bitshuffle": 2}
# The pixels of a block that netCDF4-python chooses.
_SZIP_BLOCK = 8
# netCDF keeps 1 to 23 bits of float32, and 52 of float64.
_BITS = range(1, 24)
_MANTISSA_BITS = {"float32": 23, "float64": 52}


class NetCDF4Store(Appendable):
    """A netCDF-4 file with one variable, its dimensions and coordinate variables.

    Chunks are not filled before they are written. The first dimension is unlimited. netCDF applies the
    shuffle filter with zlib only, and Blosc has its own. BitRound keeps as many bits of the mantissa as
    the level. netCDF's Blosc filter fails for a chunk that does not become smaller; HDF5's keeps such a
    chunk uncompressed.

    The format is https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html.
    """

    local_only = IN_PLACE
    dtypes: ClassVar = netcdf.DTYPES
    codecs: ClassVar = (
        Codec("zlib", range(1, 10), 4),
        Codec("zlib+shuffle", range(1, 10), 4),
        Codec("szip"),
        Codec("bzip2", range(1, 10), 4),
        Codec("zstd", range(1, 23), 4),
        *(Codec(f"blosc:{name}", range(1, 10), 4) for name in _BLOSC),
        Codec("blosc:lz4+bitshuffle", range(1, 10), 4),
        Codec("blosc:zstd+bitshuffle", range(1, 10), 4),
        *(
            Codec(f"{name}+quantize", _BITS, 10, error=ErrorScale.VALUE, bounds=(BoundKind.RELATIVE,))
            for name in ("zlib", "blosc:zstd")
        ),
    )
    file_facts = FileFacts(
        version="superblock 2", parts={"layout": "chunked", "chunks": "as asked"}, threads="one"
    )
    snippet = Snippet(
        imports="import netCDF4",
        write="""
            with netCDF4.Dataset({path}, "w") as file:
                dims = [f"dim_{axis}" for axis in range(array.ndim)]
                for name, edge in zip(dims, array.shape):
                    file.createDimension(name, edge)
                variable = file.createVariable(
                    "values", {dtype}, dims, chunksizes=chunks, fill_value={fill_value}, {options}
                )
                {scale}
                variable.set_auto_maskandscale({scales})
                variable[:] = array
        """,
        read="""
            with netCDF4.Dataset({path}) as file:
                variable = file["values"]
                variable.set_auto_maskandscale({scales})
                array = variable[:]
                {fill}
        """,
        given=Given.ARRAY,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        is_packed = codec == PACKED.name
        scale = f"variable.{SCALE} = array.dtype.type({error_of(level, None) * 2!r})"
        return {
            "dtype": literal(DTYPE) if is_packed else "array.dtype",
            "fill_value": literal(FILL if is_packed else False),
            "options": keywords(**_options(codec, level)),
            "scale": f"{scale}\nvariable.{OFFSET} = array.dtype.type(0)" if is_packed else "",
            "scales": str(is_packed),
            "fill": 'array = array.filled(float("nan"))' if is_packed else "",
        }

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = netcdf.refused_properties(source) or hdf5.refused_by(codec, source)
        if codec and codec.endswith("+quantize") and source.dtype.kind != "f":
            reason = f"netCDF quantizes floats only, and values are {source.dtype}"
        if codec == PACKED.name and source.dtype.kind != "f":
            reason = f"floats are packed only, and values are {source.dtype}"
        limits = netcdf.dimension_limits(source).values()
        if codec == "szip" and math.prod(each or 1 for each in limits) < _SZIP_BLOCK and source.shape:
            reason = f"netCDF's szip needs {_SZIP_BLOCK} values along the limited dimensions"
        if reason:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        if codec and codec.endswith("+quantize") and self.error_bound:
            # netCDF keeps at least one bit, and rounds none of those that it has.
            level = max(1, min(self.error_bound.bits, _MANTISSA_BITS[source.dtype.name]))
        packing = self._packing(source, level) if codec == PACKED.name else None
        try:
            _write(source, path, codec, level, packing)
        except RuntimeError as error:
            if not (codec and codec.startswith("blosc:")):
                raise
            raise self.refusal(
                f"{error}, as for a chunk that Blosc cannot make smaller, where netCDF's filter fails"
            ) from error

    def _packing(self, source: ArraySource, level: int | None) -> Packing:
        """Return the packing of a source; raise the refusal if it has none."""
        bound = ErrorBound(BoundKind.ABSOLUTE, error_of(level, self.error_bound))
        try:
            return Packing.within(bound, (values for _, values in source), source.dtype)
        except ValueError as error:
            raise self.refusal(str(error)) from error

    def _append(self, source: ArraySource, path: Path) -> None:
        import netCDF4

        with netCDF4.Dataset(path, "r+") as file:
            variable = variable_of(file)
            first_row = variable.shape[0]
            packing = Packing.of(variable)
            target: Any = PackedVariable(variable, packing) if packing else variable
            try:
                write_chunks(target, source, first_row)
            except ValueError as error:
                raise (self.refusal(str(error)) if packing else error) from error
            name = variable.dimensions[0]
            if name in file.variables and name in source.coordinates:
                coordinate = file[name]
                coordinate.set_auto_maskandscale(False)
                coordinate[first_row:] = source.coordinates[name]

    def _codec_used(self, path: Path) -> str | None:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            variable = variable_of(file)
            found: dict[str, Any] = variable.filters()
            quantized = "+quantize" if variable.quantization() else ""
            if Packing.of(variable):
                return PACKED.name
        if found.get("blosc"):
            names = {each: name for name, each in _BLOSC.items()}
            shuffle = {number: name for name, number in _SHUFFLES.items()}[found["blosc"]["shuffle"]]
            suffix = quantized or (shuffle and f"+{shuffle}")
            return f"blosc:{names[found['blosc']['compressor']]}{suffix}"
        if found.get("zlib"):
            return "zlib" + (quantized or ("+shuffle" if found["shuffle"] else ""))
        return next((name for name in ("szip", "bzip2", "zstd") if found.get(name)), None)


def _write(
    source: ArraySource,
    path: Path,
    codec: str | None,
    level: int | None,
    packing: Packing | None = None,
) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        for name, length in _lengths(source).items():
            file.createDimension(name, length)
        for name, values in source.coordinates.items():
            if name in source.dims:
                coordinate = file.createVariable(name, values.dtype, (name,), fill_value=False)
                coordinate.setncatts(source.coordinate_attributes.get(name, {}))
                # Else an attribute scale_factor would change the values.
                coordinate.set_auto_maskandscale(False)
                coordinate[:] = values
        options = _options(codec, level) if source.shape else {}
        variable = file.createVariable(
            source.name,
            DTYPE if packing else source.dtype,
            source.dims,
            chunksizes=_chunks(source) or None,
            fill_value=FILL if packing else False,
            # Each chunk is written whole, so that a cache would be a copy for nothing.
            chunk_cache=0,
            **options,
        )
        variable.set_auto_maskandscale(False)
        for name, value in source.attributes.items():
            variable.setncattr(name, value)
        if packing:
            variable.setncattr(SCALE, packing.scale)
            variable.setncattr(OFFSET, packing.offset)
        write_chunks(PackedVariable(variable, packing) if packing else variable, source)


def _lengths(source: ArraySource) -> dict[str, int | None]:
    """Return the lengths of dimensions, None for unlimited ones."""
    if 0 in source.shape:
        # Unlimited dimensions grow as values are written only.
        return {name: edge or None for name, edge in zip(source.dims, source.shape, strict=True)}
    return netcdf.dimension_limits(source)


def _chunks(source: ArraySource) -> tuple[int, ...]:
    if 0 in source.shape:
        edges = zip(source.chunks, source.shape, strict=True)
        return tuple(min(chunk, edge or chunk) for chunk, edge in edges)
    return source.chunks


def _options(codec: str | None, level: int | None) -> dict[str, Any]:
    """Return the arguments of `netCDF4.Dataset.createVariable` for a codec."""
    if codec is None:
        return {}
    algorithm, _, suffix = codec.partition("+")
    options: dict[str, Any] = {"compression": algorithm, "shuffle": suffix != ""}
    if codec == PACKED.name:
        return options
    if suffix == "quantize":
        options |= {"significant_digits": level, "quantize_mode": "BitRound"}
    elif level is not None:
        options["complevel"] = level
    if algorithm.startswith("blosc:"):
        options["compression"] = _BLOSC[algorithm.removeprefix("blosc:")]
        options["blosc_shuffle"] = _SHUFFLES.get(suffix, 1)
    return options


def variable_of(file: netCDF4.Dataset) -> Any:
    """Return the variable that is not a dimension's, without masks and scales."""
    variable = next(each for name, each in file.variables.items() if name not in file.dimensions)
    variable.set_auto_maskandscale(False)
    return variable
