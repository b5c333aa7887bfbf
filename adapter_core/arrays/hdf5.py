"""Filters, chunk cache and attributes of HDF5 datasets, through h5py."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import ArraySource, Attribute, grid_of
from adapter_core.array_store import ALL_DTYPES
from adapter_core.codecs import Codec, ErrorScale
from adapter_core.error_bounds import BoundKind, ErrorBound, error_of
from adapter_core.snippets import keywords, literal

if TYPE_CHECKING:
    import h5py


_PLUGIN = "hdf5plugin"
# Numbers of the inner codecs and of the shuffles of Blosc and Blosc2, from blosc.h.
_BLOSC = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
_SHUFFLES = {0: "+noshuffle", 1: "", 2: "+bitshuffle"}
# Numbers of the inner codecs of Bitshuffle, from bshuf_h5filter.h.
_BITSHUFFLE = {"lz4": 2, "zstd": 3}
# The pixels of a block that h5py chooses.
_SZIP_BLOCK = 8
# Mode word of zfp's reversible mode in its header, from zfp.c.
_ZFP_REVERSIBLE = 2176
# Identifiers of filters, from H5Zpublic.h and The HDF Group's list of registered filters,
# https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md.
_SHUFFLE, _SCALEOFFSET, _BITSHUFFLE_ID, _ZFP_ID = 2, 6, 32008, 32013
# Filters of h5py itself.
_H5PY = (1, 4, 32000)
_NAMES = {
    1: "gzip",
    4: "szip",
    307: "bzip2",
    32000: "lzf",
    32001: "blosc:",
    32004: "lz4",
    _BITSHUFFLE_ID: "+bitshuffle",
    _ZFP_ID: "zfp",
    32015: "zstd",
    32017: "sz",
    32024: "sz3",
    32026: "blosc2:",
    32028: "sperr",
}
# zfp encodes blocks of at most four dimensions: https://zfp.readthedocs.io. SPERR encodes slices and
# volumes: https://github.com/NCAR/H5Z-SPERR.
_DIMS = dict.fromkeys(("zfp", "zfp+lossy", "sz", "sz3"), range(5)) | {"sperr": range(2, 4)}
# Codecs of floats of two widths alone.
_OF_FLOATS = ("gzip+scaleoffset", "zfp+lossy", "sperr", "sz", "sz3")
_BITS = range(1, 21)
_ABSOLUTE = (BoundKind.ABSOLUTE,)
# Arguments of hdf5plugin.SZ for error bounds.
_SZ_MODES = {BoundKind.ABSOLUTE: "absolute", BoundKind.RELATIVE: "pointwise_relative"}

CODECS = (
    Codec("gzip", range(1, 10), 4),
    Codec("gzip+shuffle", range(1, 10), 4),
    Codec("lzf"),
    Codec("lzf+shuffle"),
    Codec("szip"),
    Codec("bzip2", range(1, 10), 9, requires=_PLUGIN),
    Codec("lz4", requires=_PLUGIN),
    Codec("lz4+bitshuffle", requires=_PLUGIN),
    Codec("zstd", range(1, 23), 3, requires=_PLUGIN),
    Codec("zstd+shuffle", range(1, 23), 3, requires=_PLUGIN),
    Codec("zstd+bitshuffle", range(1, 23), 3, requires=_PLUGIN),
    *(Codec(f"blosc:{name}", range(1, 10), 5, requires=_PLUGIN) for name in _BLOSC),
    *(
        Codec(f"blosc:{name}+{shuffle}", range(1, 10), 5, requires=_PLUGIN)
        for name in ("lz4", "zstd")
        for shuffle in ("bitshuffle", "noshuffle")
    ),
    *(Codec(f"blosc2:{name}", range(1, 10), 5, requires=_PLUGIN) for name in _BLOSC),
    Codec("zfp", requires=_PLUGIN),
    Codec("gzip+scaleoffset", _BITS, 10, error=ErrorScale.ONE, bounds=_ABSOLUTE),
    Codec("zfp+lossy", _BITS, 10, requires=_PLUGIN, error=ErrorScale.ONE, bounds=_ABSOLUTE),
    Codec("sperr", _BITS, 10, requires=_PLUGIN, error=ErrorScale.ONE, bounds=_ABSOLUTE),
    Codec("sz", _BITS, 10, requires=_PLUGIN, error=ErrorScale.RANGE, bounds=tuple(_SZ_MODES)),
    Codec("sz3", _BITS, 10, requires=_PLUGIN, error=ErrorScale.RANGE, bounds=_ABSOLUTE),
)
"""Codecs of h5py and hdf5plugin.

Lossy modes with a bound are zfp's fixed accuracy, SPERR's point-wise error, HDF5's own scale-offset by
decimals, and the mode of SZ and SZ3 that is relative to the range of the chunk; under an error bound
their absolute one. zfp's bound is at least the precision of the dtype at the largest of the values that
it encodes together, 4 along each dimension. SPERR keeps NaN apart.

Blosc does not apply its bitshuffle if the number of values in a chunk is not a multiple of 8.
"""

MOST_CACHE_BYTES = 256 * 2**20
"""Largest chunk cache, unless one chunk is larger."""

RESERVED = frozenset("CLASS NAME DIMENSION_LIST REFERENCE_LIST DIMENSION_LABELS".split())
"""Attributes that dimension scales use, from the HDF5 Dimension Scale Specification."""


# An attribute is part of the object header, whose messages have less than 64 KiB:
# https://docs.hdfgroup.org/hdf5/develop/_f_m_t3.html
_MOST_ATTRIBUTE_BYTES = 64_000


def filter_options(
    codec: str | None, level: int | None, bound: ErrorBound | None = None
) -> dict[str, Any]:
    """Return the arguments of `h5py.Group.create_dataset` for one of `CODECS`.

    A lossy one keeps the bound, if there is one, in place of its level.
    """
    if codec is None:
        return {}
    if codec == "gzip+scaleoffset":
        # Half of the last decimal is the error, and h5py takes no fewer decimals than none.
        decimals = max(0, math.ceil(-math.log10(2 * error_of(level, bound))))
        return {"scaleoffset": decimals, "compression": "gzip"}
    if codec in ("lzf", "szip", "gzip"):
        return {"compression": codec, "compression_opts": level} if level else {"compression": codec}
    algorithm, _, shuffle = codec.partition("+")
    if algorithm in ("lzf", "gzip"):
        return {**filter_options(algorithm, level), "shuffle": True}
    container, _, inner = algorithm.rpartition(":")
    return _plugin_options(container, inner, shuffle, level or 0, bound)


def _plugin_options(
    container: str, name: str, shuffle: str, level: int, bound: ErrorBound | None
) -> dict[str, Any]:
    plugin = registered_plugin()
    if container:
        shuffles = {"": 1, "bitshuffle": 2, "noshuffle": 0}
        if container == "blosc2":
            return {"compression": plugin.Blosc2(name, level, plugin.Blosc2.SHUFFLE)}
        return {"compression": plugin.Blosc(name, level, shuffles[shuffle])}
    if shuffle == "bitshuffle":
        return {"compression": plugin.Bitshuffle(0, name, level or 3)}
    options = {"shuffle": True} if shuffle == "shuffle" else {}
    error = error_of(level, bound)
    if name == "zfp":
        chosen = plugin.Zfp(accuracy=error) if shuffle == "lossy" else plugin.Zfp(reversible=True)
    elif name == "sperr":
        chosen = plugin.Sperr(absolute=error, missing_value_mode=plugin.Sperr.MISSING_NAN)
    elif name == "sz":
        chosen = plugin.SZ(**{_SZ_MODES[bound.kind] if bound else "relative": error})
    elif name == "sz3" and bound:
        chosen = plugin.SZ3(absolute=error)
    elif name == "sz3":
        # plugin.SZ3 logs a warning for mode 1, relative to the range, which takes the second number.
        _, high, low, *_ = plugin.SZ3(absolute=error).filter_options
        values = (1, 0, 0, high, low, 0, 0, 0, 0)
        return {"compression": plugin.SZ3_ID, "compression_opts": values}
    else:
        chosen = {"bzip2": plugin.BZip2, "zstd": plugin.Zstd, "lz4": plugin.LZ4}[name](level)
    return {**options, "compression": chosen}


def filter_code(codec: str | None, level: int | None) -> str:
    """Return the arguments of `filter_options` as code, with the module hdf5plugin by its name."""
    algorithm, _, shuffle = (codec or "").partition("+")
    container, _, name = algorithm.rpartition(":")
    if not algorithm or algorithm in ("lzf", "szip", "gzip"):
        options = filter_options(codec, level)
        return keywords(**options)
    if container == "blosc2":
        return f"compression=hdf5plugin.Blosc2({literal(name)}, {level}, hdf5plugin.Blosc2.SHUFFLE)"
    if container:
        mode = {"": "SHUFFLE", "bitshuffle": "BITSHUFFLE", "noshuffle": "NOSHUFFLE"}[shuffle]
        return f"compression=hdf5plugin.Blosc({literal(name)}, {level}, hdf5plugin.Blosc.{mode})"
    if shuffle == "bitshuffle":
        return f"compression=hdf5plugin.Bitshuffle(0, {literal(name)}, {level or 3})"
    arguments = {
        "zfp": f"Zfp(accuracy=2**-{level})" if shuffle == "lossy" else "Zfp(reversible=True)",
        "sperr": f"Sperr(absolute=2**-{level}, missing_value_mode=hdf5plugin.Sperr.MISSING_NAN)",
        "sz": f"SZ(relative=2**-{level})",
        "sz3": f"SZ3(relative=2**-{level})",
        "bzip2": f"BZip2({level})",
        "zstd": f"Zstd({level})",
        "lz4": "LZ4(0)",
    }
    before = "shuffle=True, " if shuffle == "shuffle" else ""
    return f"{before}compression=hdf5plugin.{arguments[name]}"


@functools.cache
def registered_plugin() -> Any:
    """Return the package hdf5plugin, after its filters are registered in h5py's HDF5 library.

    Once imported, netCDF4-python sets HDF5_PLUGIN_PATH to filters that are linked with its own HDF5
    library. h5py finds some of them first, and they fail there: hdf5plugin's must replace them.
    """
    import hdf5plugin

    hdf5plugin.register(force=True)
    return hdf5plugin


def _is_plugin(identifier: int) -> bool:
    return identifier in _NAMES and identifier not in _H5PY


def refused_by(codec: str | None, source: ArraySource) -> str:
    """Return why HDF5 or a codec cannot encode an array, or an empty string."""
    if source.chunk_bytes >= 2**32:
        return f"HDF5 chunks are smaller than 4 GiB, not {source.chunk_bytes} bytes"
    if codec is None or not source.shape:
        return ""
    dtype = source.dtype.name
    if codec in _OF_FLOATS and dtype not in ("float32", "float64"):
        return f"{codec} supports float32 and float64 only, and values are {dtype}"
    if codec == "zfp" and dtype not in ("float32", "float64", "int32", "int64"):
        return f"zfp does not support values of type {dtype}"
    dims = _DIMS.get(codec)
    if dims and sum(edge > 1 for edge in source.chunks) not in dims:
        limits = f"{dims[0]} to {dims[-1]}" if dims[0] else f"at most {dims[-1]}"
        return f"{codec} supports chunks of {limits} dimensions with several values"
    if codec in ("sz", "sz3") and any(map(operator.mod, source.shape, source.chunks)):
        # Incomplete chunks are padded with zeros, which would count in the range.
        return f"{codec} guarantees its bound for complete chunks only, and the last ones are not"
    if codec == "szip" and dtype not in ALL_DTYPES - {"bool", "complex64", "complex128"}:
        return f"szip supports integers and floats only, and values are {dtype}"
    if codec == "szip" and math.prod(source.chunks) < _SZIP_BLOCK:
        return f"szip needs chunks of at least {_SZIP_BLOCK} values"
    return ""


def codec_of(dataset: h5py.Dataset) -> str | None:
    """Return the codec of a dataset from its filter pipeline; None without filters."""
    created = dataset.id.get_create_plist()
    filters = {}
    for place in range(created.get_nfilters()):
        identifier, _, values, _ = created.get_filter(place)
        filters[identifier] = values
    shuffled = filters.pop(_SHUFFLE, None) is not None
    scaled = filters.pop(_SCALEOFFSET, None) is not None
    for identifier, values in filters.items():
        name = _NAMES.get(identifier, "")
        if name.endswith(":"):
            return name + _key(_BLOSC, values[6]) + _SHUFFLES[values[5]]
        if identifier == _BITSHUFFLE_ID:
            return _key(_BITSHUFFLE, values[4]) + name
        if identifier == _ZFP_ID:
            # After the filter's version stands zfp's header of 96 bits, whose last 12 are the mode.
            return name if values[3] >> 20 == _ZFP_REVERSIBLE else f"{name}+lossy"
        if name:
            return name + "+scaleoffset" * scaled + "+shuffle" * shuffled
    return None


def _key(numbers: Mapping[str, int], number: int) -> str:
    return next(name for name, each in numbers.items() if each == number)


def cache_of(chunk_bytes: int, row_chunks: int) -> tuple[int, int, float]:
    """Return slots, bytes and preemption of the chunk cache of a compressed dataset to read.

    HDF5 decodes a chunk again at each touch unless it is in the cache; the default cache may be smaller
    than a chunk. Here it has room for all chunks of one index along the first axis, at most
    `MOST_CACHE_BYTES`: reading index by index then decodes each chunk once.
    """
    # A hash table of prime size, some ten times the number of chunks, as HDF5 recommends.
    slots = next((each for each in (8191, 131071) if each > 10 * row_chunks), 524287)
    # 0.75 is HDF5's default: chunks that were read whole go first.
    return slots, max(chunk_bytes, min(row_chunks * chunk_bytes, MOST_CACHE_BYTES)), 0.75


def reopened_with_cache(file: h5py.File, name: str) -> h5py.Dataset:
    """Open a dataset; one with filters with the chunk cache of `cache_of`.

    The cache exists as long as any handle of the dataset is open. Without filters the file's own cache
    is best: HDF5 reads a selection of a chunk that does not fit there without the rest of the chunk, and
    others chunk by chunk, where without a cache each row of the chunk would be a read.
    """
    import h5py

    identifier = h5py.h5d.open(file.id, name.encode())
    created = identifier.get_create_plist()
    filters = [created.get_filter(place)[0] for place in range(created.get_nfilters())]
    if created.get_layout() != h5py.h5d.CHUNKED or not filters:
        return h5py.Dataset(identifier)
    chunks = created.get_chunk()
    row = math.prod(grid_of(identifier.shape, chunks)[1:])
    chunk_bytes = math.prod(chunks) * identifier.dtype.itemsize
    access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    access.set_chunk_cache(*cache_of(chunk_bytes, row))
    # HDF5 ignores the setting, and replaces no filter, while another handle of the dataset is open.
    identifier.close()
    if any(_is_plugin(each) for each in filters):
        registered_plugin()
    return h5py.Dataset(h5py.h5d.open(file.id, name.encode(), access))


def attribute_of(value: Any) -> Attribute:
    """Return the value of an attribute, as it was given to h5py or netCDF4."""
    if isinstance(value, bytes):
        return value.decode()
    # netCDF4 has lists for several texts, and writes a list without values as an empty dataspace.
    found: Attribute = value
    if not isinstance(value, str | list):
        found = value.tolist() if hasattr(value, "tolist") else []
    return found


def long_attribute(source: ArraySource) -> str:
    """Return why HDF5's earliest format cannot keep a list, or an empty string; netCDF's format can."""
    for name, value in source.all_attributes():
        if isinstance(value, list) and 8 * len(value) > _MOST_ATTRIBUTE_BYTES:
            return f"the {len(value):,} numbers of the attribute {name!r} do not fit in 64 KiB"
    return ""


def refused_properties(source: ArraySource, reserved: frozenset[str]) -> str:
    """Return why HDF5 cannot keep a source's properties, or an empty string."""
    for name in (source.name, *source.dims, *dict(source.all_attributes())):
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            return f"HDF5 has no objects or attributes of the name {name!r}"
    if source.name in source.coordinates:
        return f"the variable and a coordinate both have the name {source.name!r}"
    for name, value in source.all_attributes():
        if name in reserved:
            return f"HDF5 files use the attribute {name!r} for themselves"
        if isinstance(value, str) and "\0" in value:
            return f"the attribute {name!r} contains a NUL character"
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(each, int) and not -(2**63) <= each < 2**63 for each in numbers):
            return f"the attribute {name!r} has an integer of more than 64 bits"
    for name, values in source.coordinates.items():
        if values.dtype.name not in ALL_DTYPES:
            return f"coordinates {name!r} of type {values.dtype} are not numbers"
    return ""
