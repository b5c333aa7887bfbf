"""Metadata of codecs in Zarr arrays, and back to their names.

Formats 2 and 3: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html and
https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html. Codecs outside the specification of
format 3 have the names that zarr-python registers, with the prefix ``numcodecs.``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from adapter_core.array_store import FLOATS, INTEGERS
from adapter_core.codecs import Codec, ErrorScale
from adapter_core.error_bounds import BoundKind, ErrorBound, error_of
from adapter_core.snippets import literal

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import ArraySource

BLOSC = tuple(
    Codec(f"blosc:{name}", range(1, 10), 5)
    for name in (
        "blosclz",
        "lz4",
        "lz4+bitshuffle",
        "lz4+noshuffle",
        "lz4hc",
        "zlib",
        "zstd",
        "zstd+bitshuffle",
        "zstd+noshuffle",
    )
)
"""Blosc with each inner codec; with the default level of the format's Python library."""

GZIP = Codec("gzip", range(1, 10), 5)
ZSTD = Codec("zstd", range(1, 23), 3)
NUMCODECS = (
    Codec("zlib", range(1, 10), 1),
    Codec("bz2", range(1, 10), 1),
    Codec("lzma", range(10), 6),
    Codec("lz4"),
    Codec("pcodec", range(13), 8, requires="pcodec"),
    Codec("zstd+shuffle", range(1, 23), 3),
    Codec("gzip+shuffle", range(1, 10), 5),
    *(
        Codec(name, range(1, 24), 10, error=ErrorScale.VALUE, bounds=(BoundKind.RELATIVE,))
        for name in ("zstd+bitround", "zstd+bitround+shuffle")
    ),
    *(
        Codec(name, range(1, 21), 10, error=ErrorScale.ONE, bounds=(BoundKind.ABSOLUTE,))
        for name in ("zstd+fixedscaleoffset+shuffle", "zstd+quantize+shuffle")
    ),
)
"""Codecs of numcodecs, with its default levels."""
ALL = (GZIP, ZSTD, *NUMCODECS, *BLOSC)

# https://github.com/pcodec/pcodec lists 8-bit integers too, but numcodecs does not pass them on.
_PCODEC_DTYPES = (INTEGERS | FLOATS) - {"int8", "uint8"}
_MANTISSA_BITS = {"float16": 10, "float32": 23, "float64": 52}
# Filters of floats, before these become bytes; two make others of them.
ROUNDING = frozenset({"bitround", "fixedscaleoffset", "quantize"})

# Names of the parameter that a level is.
_LEVEL = {"lzma": "preset", "lz4": "acceleration"}
_SPECIFIED = frozenset({"gzip", "zstd", "blosc"})
ANY_DTYPE: Any = SimpleNamespace(name="float64", itemsize=8, str="<f8")
"""Stands for the dtype of an array that is not known yet; its name and size are replaced in code."""
_OF_DTYPE = (
    (re.compile(r'("(?:typesize|elementsize)":) 8'), r"\1 array.dtype.itemsize"),
    (re.compile(r'("dtype":) "<f8"'), r"\1 array.dtype.str"),
    (re.compile(r'("astype":) "<i8"'), r'\1 f"<i{array.dtype.itemsize}"'),
)
_BLOSC_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


def unsupported_reason(codec: str | None, dtype: np.dtype[Any]) -> str | None:
    """Return the reason why a codec cannot take values of a dtype, or None."""
    if codec == "pcodec" and dtype.name not in _PCODEC_DTYPES:
        return f"pcodec does not support values of type {dtype}"
    if codec is not None and not ROUNDING.isdisjoint(codec.split("+")) and dtype.name not in FLOATS:
        return f"only floats can be rounded to bits, not values of type {dtype}"
    return None


def numcodecs_chain(
    codec: str | None, level: int | None, dtype: np.dtype[Any], bound: ErrorBound | None = None
) -> list[dict[str, Any]]:
    """Return configurations of numcodecs, filters first and the compressor last; empty for None."""
    if codec is None:
        return []
    algorithm, _, own_filter = codec.partition("+")
    rounding, _, shuffling = own_filter.partition("+")
    if rounding in ROUNDING:
        rounds = {"id": rounding, **_rounding(rounding, level, dtype, bound)}
        shuffles = [{"id": "shuffle", "elementsize": dtype.itemsize}] if shuffling else []
        return [rounds, *shuffles, {"id": algorithm, "level": ZSTD.default_level}]
    if algorithm.startswith("blosc:"):
        shuffle = _BLOSC_SHUFFLES.index(own_filter or "shuffle")
        name = algorithm.removeprefix("blosc:")
        return [{"id": "blosc", "cname": name, "clevel": level, "shuffle": shuffle, "blocksize": 0}]
    parameters = {} if level is None else {_LEVEL.get(algorithm, "level"): level}
    compressor = {"id": algorithm, **parameters}
    if own_filter == "shuffle":
        return [{"id": "shuffle", "elementsize": dtype.itemsize}, compressor]
    return [compressor]


def _rounding(
    name: str, level: int | None, dtype: np.dtype[Any], bound: ErrorBound | None
) -> dict[str, Any]:
    """Return the parameters of a filter that rounds floats to bits, or to multiples of a step."""
    if name == "bitround":
        return {"keepbits": min(bound.bits if bound else level or 1, _MANTISSA_BITS[dtype.name])}
    error = error_of(level, bound)
    if name == "quantize":
        # It takes the next power of two below so many decimals, whose half is the error.
        return {"digits": math.ceil(-math.log10(2 * error)), "dtype": dtype.str}
    step = ErrorBound(BoundKind.ABSOLUTE, error).step
    integers = f"<i{max(4, dtype.itemsize)}"
    return {"offset": 0, "scale": 1 / step, "dtype": dtype.str, "astype": integers}


def v3_chain(
    codec: str | None, level: int | None, dtype: np.dtype[Any], bound: ErrorBound | None = None
) -> list[dict[str, Any]]:
    """Return the entry "codecs" of the metadata of an array of format 3, without sharding."""
    to_bytes: dict[str, Any] = {"name": "bytes"}
    if dtype.itemsize > 1:
        to_bytes["configuration"] = {"endian": "little"}
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for each in numcodecs_chain(codec, level, dtype, bound):
        name, configuration = each.pop("id"), each
        if name == "blosc":
            # The numcodecs.blosc codec receives bytes without their type, and its shuffle does nothing.
            configuration["typesize"] = dtype.itemsize
            configuration["shuffle"] = _BLOSC_SHUFFLES[configuration["shuffle"]]
        if name == "zstd":
            configuration["checksum"] = False
        entry = {"name": name, "configuration": configuration}
        if name not in _SPECIFIED:
            entry["name"] = f"numcodecs.{name}"
        if name == "pcodec":
            to_bytes = entry
        else:
            (before if name in ROUNDING else after).append(entry)
    return [*before, to_bytes, *after]


def code_of(codec: str | None, level: int | None, zarr_format: int) -> str:
    """Return the arguments of zarr-python for a codec as code on an array, a line each."""
    if zarr_format == 2:  # noqa: PLR2004 (a version)
        chain = _code_of(numcodecs_chain(codec, level, ANY_DTYPE))
        *filters, compressor = [f"numcodecs.get_codec({each})" for each in chain] or ["None"]
        found = {"filters": f"[{', '.join(filters)}]" if filters else "", "compressors": compressor}
    else:
        chain = _code_of(v3_chain(codec, level, ANY_DTYPE))
        filters = [each for each in chain if any(name in each for name in ROUNDING)]
        serializers = [each for each in chain if "pcodec" in each]
        others = [each for each in chain if each not in filters + serializers and "bytes" not in each]
        found = {
            "filters": f"[{', '.join(filters)}]" if filters else "",
            "serializer": "".join(serializers),
            "compressors": f"[{', '.join(others)}]" if others else "None",
        }
    return "\n".join(f"{name}={each}," for name, each in found.items() if each)


def code_of_v3(codec: str | None, level: int | None) -> str:
    """Return the entries of `v3_chain` as code on an array."""
    return ", ".join(_code_of(v3_chain(codec, level, ANY_DTYPE)))


def _code_of(chain: Sequence[Mapping[str, Any]]) -> list[str]:
    found = list(map(literal, chain))
    for pattern, code in _OF_DTYPE:
        found = [pattern.sub(code, each) for each in found]
    return found


def name_of_v3(codecs: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the name of the codec in the entry "codecs" of an array of format 3, or None."""
    if codecs[0]["name"] == "sharding_indexed":
        codecs = codecs[0]["configuration"]["codecs"]
    return name_of_numcodecs(
        [
            {**each.get("configuration", {}), "id": each["name"].removeprefix("numcodecs.")}
            for each in codecs
            if each["name"] not in ("bytes", "crc32c", "transpose")
        ]
    )


def name_of_numcodecs(chain: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the name of the codec of numcodecs configurations, filters first, or None."""
    if not chain:
        return None
    *filters, compressor = chain
    name: str = compressor["id"]
    if name == "blosc":
        shuffle = compressor["shuffle"]
        if isinstance(shuffle, int):
            shuffle = _BLOSC_SHUFFLES[shuffle]
        usual = "" if shuffle == "shuffle" else f"+{shuffle}"
        return f"blosc:{compressor['cname']}{usual}"
    return "+".join([name, *(each["id"] for each in filters)])


def name_problem(source: ArraySource) -> str | None:
    """Return the reason why a group cannot have members with the names of a source, or None."""
    if source.name in source.coordinates:
        return f"its name {source.name!r} is also a coordinate's"
    for name in (source.name, *source.coordinates):
        # https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#node-names
        if not name.strip(".") or "/" in name or name.startswith("__"):
            return f"{name!r} cannot be the name of a member of a group"
    return None
