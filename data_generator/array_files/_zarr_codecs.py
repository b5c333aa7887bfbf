"""Codecs and tree of Zarr metadata, checked before the library decodes anything.

numcodecs finds the class of a codec by the name in the metadata: among them is one that loads pickles,
and packages that happen to be installed add others.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from adapter_core.errors import InvalidDataError

METADATA = (".zarray", "zarr.json")

# Codecs that only compute, by their names in format 2; in format 3 some begin with "numcodecs.".
KNOWN = frozenset(
    "adler32 astype base64 bitround blosc bytes bz2 categorize crc32 crc32c delta endian "
    "fixedscaleoffset fletcher32 gzip jenkins_lookup3 json2 lz4 lzma msgpack2 packbits pcodec "
    "quantize sharding_indexed shuffle transpose vlen-array vlen-bytes vlen-utf8 zfpy zlib zstd".split()
)
PREFIX = "numcodecs."

# Fields of metadata with codecs.
FIELDS = ("compressor", "filters", "codecs", "index_codecs")

# Metadata of an array are some kilobytes.
LARGEST_BYTES = 2**26

# Groups below groups: zarr recurses into them.
DEEPEST = 100

Metadata = tuple[PurePath, int, Callable[[], bytes]]
"""Relative path of a file of metadata, its size in bytes, and its content."""


def check_codecs(place: Path, metadata: Iterable[Metadata]) -> None:
    """Raise `InvalidDataError` if an array names a codec that may run code.

    Damaged metadata raise other exceptions.

    Parameters
    ----------
    place : pathlib.Path
        The user's folder or file, for messages.
    metadata : iterable
        From `metadata_in` or `metadata_in_archive`.
    """
    for path, size_bytes, content in metadata:
        if len(path.parts) > DEEPEST:
            raise InvalidDataError(place, f"has groups inside groups, more than {DEEPEST}")
        if size_bytes > LARGEST_BYTES:
            raise InvalidDataError(place, f"has metadata of more than {LARGEST_BYTES / 1e6:.0f} MB")
        for name in _names(json.loads(content())):
            if name.removeprefix(PREFIX) not in KNOWN:
                problem = f"names the codec {name[:40]!a}, which is not one of the known"
                raise InvalidDataError(place, problem, "store it with another, e.g. zstd")


def metadata_in(folder: Path) -> Iterator[Metadata]:
    """Yield the metadata of the arrays in a folder."""
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in METADATA if name in names):
            yield path.relative_to(folder), path.stat().st_size, path.read_bytes


def metadata_in_archive(path: Path) -> Iterator[Metadata]:
    """Yield the metadata of the arrays in a ZIP file; of members of one name, each."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = PurePosixPath(member.filename)
            if name.name in METADATA:
                yield name, member.file_size, partial(archive.read, member)


def _names(metadata: Any) -> Iterator[str]:
    """Yield the names of all codecs, those inside a shard too."""
    fields = metadata if isinstance(metadata, dict) else {}
    for field in FIELDS:
        found = fields.get(field)
        for codec in found if isinstance(found, list) else [found]:
            if isinstance(codec, str):
                yield codec
            elif isinstance(codec, dict):
                yield str(codec.get("id", codec.get("name")))
                yield from _names(codec.get("configuration"))
