"""Compression of whole files, for formats with few codecs of their own, or none."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from adapter_core.codecs import Codec

CODECS = (
    Codec("gzip", range(1, 10), 9),
    Codec("zstd", range(1, 23), 3, requires="zstandard"),
    Codec("xz", range(10), 6),
)
"""Codecs without level 0 of gzip, which only stores, and without the negative levels of zstd."""

# Neither UTF-8 text, nor a pickle (0x80), nor an Avro file ("Obj"), nor a message of Protobuf after its
# length (0x0a) starts with one of these.
_MAGIC = {
    # https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1, with the only method, deflate: two bytes
    # alone are the length of some first documents of BSON.
    b"\x1f\x8b\x08": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",  # https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
    b"\xfd7zXZ\0": "xz",  # https://tukaani.org/xz/xz-file-format.txt, 2.1.1.1
}
_LONGEST_MAGIC = max(map(len, _MAGIC))

# Names of the level in the classes that pandas passes the options to.
_LEVEL_OPTION = {"gzip": "compresslevel", "zstd": "level", "xz": "preset"}


def codec_of(path: Path) -> str | None:
    """Return the codec of a whole file by its first bytes; None if it is not compressed."""
    with path.open("rb", buffering=0) as file:
        return _codec_by(file.read(_LONGEST_MAGIC))


def pandas_options(codec: str | None, level: int | None) -> dict[str, Any] | None:
    """Return the argument `compression` of pandas' functions."""
    return None if codec is None else {"method": codec, _LEVEL_OPTION[codec]: level}


def code_to_open(path: str, codec: str | None, level: int | None) -> dict[str, str]:
    """Return the code that opens a file to write and to read, and the module that it needs.

    Parameters
    ----------
    path : str
        The literal of a path.
    codec, level
        As for `writing`.

    Returns
    -------
    dict
        By the words ``writer``, ``reader`` and ``module``.
    """
    if codec is None:
        return {"writer": f'open({path}, "wb")', "reader": f'open({path}, "rb")', "module": ""}
    module = {"gzip": "gzip", "xz": "lzma", "zstd": "zstandard"}[codec]
    option = f"{_LEVEL_OPTION[codec]}={level}"
    if codec == "zstd":
        option = f"cctx=zstandard.ZstdCompressor({option})"
    return {
        "writer": f'{module}.open({path}, "wb", {option})',
        "reader": f'{module}.open({path}, "rb")',
        "module": f"import {module}",
    }


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, and decompress it if it is compressed as a whole."""
    with path.open("rb") as file:
        # Past the buffer: a read of all that follows would copy what is in there, and the rest with it.
        codec = _codec_by(file.raw.read(_LONGEST_MAGIC))
        file.seek(0)
        if codec is None:
            yield file
        else:
            with _decompressing(file, codec) as stream:
                yield stream


@contextmanager
def writing(path: Path, codec: str | None, level: int | None) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed as a whole if a codec is given."""
    with path.open("wb") as file, writing_to(file, codec, level) as stream:
        yield stream


@contextmanager
def writing_to(file: BinaryIO, codec: str | None, level: int | None) -> Iterator[BinaryIO]:
    """Provide a stream to an open file, compressed as a whole if a codec is given."""
    if codec is None:
        yield file
    else:
        with _compressing(file, codec, level) as stream:
            yield stream


def _codec_by(start: bytes) -> str | None:
    """Return the codec of a file with these first bytes."""
    return next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)


def _decompressing(file: BinaryIO, codec: str) -> BinaryIO:
    if codec == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
    if codec == "xz":
        return cast("BinaryIO", lzma.LZMAFile(file))
    import zstandard

    return zstandard.open(file, "rb")


def _compressing(file: BinaryIO, codec: str, level: int | None) -> BinaryIO:
    options: dict[str, Any] = {_LEVEL_OPTION[codec]: level}
    if codec == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="wb", **options))
    if codec == "xz":
        return cast("BinaryIO", lzma.LZMAFile(file, "wb", **options))
    import zstandard

    return zstandard.open(file, "wb", cctx=zstandard.ZstdCompressor(**options))
