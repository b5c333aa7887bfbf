"""Codecs of single chunks, for stores that write the bytes of a chunk themselves.

An encoded chunk is the values alone, without shape and dtype.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from typing import TYPE_CHECKING, Any

from adapter_core.codecs import Codec

if TYPE_CHECKING:
    import numpy as np

BLOSC_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
# Level 0 of Blosc copies.
BLOSC_LEVELS = range(1, 10)
_FILTERED = ("lz4", "zstd")

_BLOSC = tuple(
    Codec(f"{library}:{name}", BLOSC_LEVELS, 5, requires=requires)
    for library, requires in (("blosc", "numcodecs"), ("blosc2", "blosc2"))
    for name in (
        *BLOSC_COMPRESSORS,
        *(f"{each}+{shuffle}" for each in _FILTERED for shuffle in ("bitshuffle", "noshuffle")),
    )
)

CODECS = (
    Codec("bz2", range(1, 10), 9),
    Codec("fpzip", requires="fpzip"),
    Codec("gzip", range(1, 10), 9),
    Codec("lz4", requires="lz4"),
    Codec("lz4hc", range(3, 13), 9, requires="lz4"),
    Codec("lzma", range(10), 6),
    Codec("openzl", range(1, 10), 6, requires="openzl"),
    Codec("pcodec", range(13), 8, requires="pcodec"),
    Codec("zlib", range(1, 10), 6),
    Codec("zstd", range(1, 23), 3, requires="zstandard"),
    *_BLOSC,
)
"""Each with the default level of its library."""

_MAGIC = {
    "bz2": b"BZh",
    "fpzip": b"fpy",
    "gzip": b"\x1f\x8b",  # https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1
    "lz4": b"\x04\x22\x4d\x18",  # https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
    "lz4hc": b"\x04\x22\x4d\x18",  # the same format, by another search
    "lzma": b"\xfd7zXZ\0",  # https://tukaani.org/xz/xz-file-format.txt, 2.1.1.1
    "pcodec": b"pco!",
    "zlib": b"\x78",  # https://www.rfc-editor.org/rfc/rfc1950#section-2.2, a window of 32 KiB
    "zstd": b"\x28\xb5\x2f\xfd",  # https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
}
# Version bytes of headers: https://github.com/Blosc/c-blosc2/blob/main/README_CHUNK_FORMAT.rst
_BLOSC_VERSIONS = {"blosc": {2}, "blosc2": {4, 5, 6}}
# Numbers of the formats in a header; lz4hc shares lz4's.
_BLOSC_FORMATS = {"blosclz": 0, "lz4": 1, "lz4hc": 1, "zlib": 3, "zstd": 4}

# Bytes 1 to 3 of a frame; the first one is that of its format's version. zl_wire_format's
# ZSTRONG_MAGIC_NUMBER_BASE: https://github.com/facebook/openzl
_OPENZL_MAGIC = b"\xa5\xb1\xd7"

# Kinds of dtype that pcodec compresses: https://github.com/pcodec/pcodec
PCODEC_DTYPES = frozenset(
    {"float16", "float32", "float64", "int16", "int32", "int64", "uint16", "uint32", "uint64"}
)

FPZIP_DTYPES = frozenset({"float32", "float64"})
# An array of fpzip has as many axes; it predicts values along the last three.
_FPZIP_AXES = 4
# The number of bytes follows each chunk, since fpzip reads on beyond the end of a truncated one.
_FPZIP_SIZE_BYTES = 8


CHECKED = frozenset({"lz4", "lz4hc", "zstd"})
"""Codecs whose frames may have a checksum of their content, off by default; readers verify it."""


def encode(values: np.ndarray, codec: str, level: int | None, *, checksum: bool = False) -> Any:
    """Return the compressed bytes of a C-contiguous array, with a checksum if the codec is `CHECKED`."""
    library, _, name = codec.rpartition(":")
    if library:
        return _encode_blosc(values, library, name, level)
    if codec == "fpzip":
        return _encode_fpzip(values)
    if codec == "openzl":
        return _encode_openzl(values, level)
    data = values.reshape(-1).view("uint8").data
    if codec == "bz2":
        return bz2.compress(data, level or 9)
    if codec == "gzip":
        return gzip.compress(data, level or 9, mtime=0)
    if codec == "lzma":
        return lzma.compress(data, preset=level)
    if codec == "zlib":
        return zlib.compress(data, level or 6)
    if codec == "zstd":
        import zstandard

        return zstandard.ZstdCompressor(level or 3, write_checksum=checksum).compress(data)
    if codec == "pcodec":
        from pcodec import ChunkConfig, standalone

        return standalone.simple_compress(values.reshape(-1), ChunkConfig(compression_level=level))
    import lz4.frame

    compression_level = level if codec == "lz4hc" else 0
    return lz4.frame.compress(data, compression_level=compression_level, content_checksum=checksum)


def decode(data: bytes, codec: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Return the values of an encoded chunk; may be read-only."""
    import numpy as np

    library, _, _ = codec.rpartition(":")
    if library == "blosc":
        import numcodecs.blosc

        found = np.empty(shape, dtype)
        numcodecs.blosc.decompress(data, found)
        return found
    if library == "blosc2":
        import blosc2

        found = np.empty(shape, dtype)
        blosc2.decompress2(data, dst=found)
        return found
    if codec == "fpzip":
        return _decode_fpzip(data, shape)
    if codec == "openzl":
        from openzl.ext import DCtx

        (output,) = DCtx().decompress(data)
        return np.asarray(output.content.as_nparray()).view(dtype).reshape(shape)
    if codec == "pcodec":
        from pcodec import standalone

        return standalone.simple_decompress(data).reshape(shape)
    return np.frombuffer(_decompress(data, codec), dtype).reshape(shape)


def is_encoded_by(data: bytes, codec: str) -> bool:
    """Return whether a chunk begins as a codec's chunks do; lz4 and lz4hc look alike."""
    library, _, name = codec.rpartition(":")
    if codec == "openzl":
        return data[1:4] == _OPENZL_MAGIC
    if not library:
        return data.startswith(_MAGIC[codec])
    name, _, shuffle = name.partition("+")
    version, flags = data[0], data[2]
    if library == "blosc":
        filters = {"": 1, "bitshuffle": 4, "noshuffle": 0}[shuffle]
        if flags & 0b101 != filters:
            return False
    return version in _BLOSC_VERSIONS[library] and flags >> 5 == _BLOSC_FORMATS[name]


def _decompress(data: bytes, codec: str) -> Any:
    if codec == "bz2":
        return bz2.decompress(data)
    if codec == "gzip":
        return gzip.decompress(data)
    if codec == "lzma":
        return lzma.decompress(data)
    if codec == "zlib":
        return zlib.decompress(data)
    if codec == "zstd":
        import zstandard

        return zstandard.ZstdDecompressor().decompress(data)
    import lz4.frame

    return lz4.frame.decompress(data)


def _encode_fpzip(values: np.ndarray) -> bytes:
    import fpzip

    # It takes no read-only memory, although it only reads.
    own = values if values.flags.writeable else values.copy()
    encoded: bytes = fpzip.compress(own.reshape(-1, *own.shape[1 - _FPZIP_AXES :]))
    return encoded + len(encoded).to_bytes(_FPZIP_SIZE_BYTES, "little")


def _decode_fpzip(data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    import fpzip

    encoded = data[:-_FPZIP_SIZE_BYTES]
    if len(encoded) != int.from_bytes(data[-_FPZIP_SIZE_BYTES:], "little"):
        raise EOFError(f"a chunk of fpzip ends after {len(data)} bytes")
    found: np.ndarray = fpzip.decompress(encoded).reshape(shape)
    return found


def _encode_openzl(values: np.ndarray, level: int | None) -> bytes:
    import numpy as np
    from openzl import ext

    compressor = ext.Compressor()
    compressor.set_parameter(ext.CParam.FormatVersion, ext.MAX_FORMAT_VERSION)
    compressor.set_parameter(ext.CParam.CompressionLevel, level or 6)
    # The graph that OpenZL chooses by the type of its input.
    compressor.select_starting_graph(ext.graphs.Compress()(compressor))
    context = ext.CCtx()
    context.ref_compressor(compressor)
    # Numbers have up to 8 bytes: complex ones are two.
    numbers = values.reshape(-1).view(np.float64 if values.dtype == np.complex128 else values.dtype)
    return context.compress([ext.Input(ext.Type.Numeric, numbers)])


def _encode_blosc(values: np.ndarray, library: str, name: str, level: int | None) -> Any:
    name, _, shuffle = name.partition("+")
    if library == "blosc":
        import numcodecs

        shuffles = {"": 1, "bitshuffle": 2, "noshuffle": 0}
        return numcodecs.Blosc(name, level or 5, shuffles[shuffle]).encode(values)
    import blosc2

    filters = {
        "": blosc2.Filter.SHUFFLE,
        "bitshuffle": blosc2.Filter.BITSHUFFLE,
        "noshuffle": blosc2.Filter.NOFILTER,
    }
    return blosc2.compress2(
        values,
        codec=blosc2.Codec[name.upper()],
        clevel=level or 5,
        typesize=values.dtype.itemsize,
        filters=[filters[shuffle]],
    )
