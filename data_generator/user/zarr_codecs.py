"""Codecs and tree of a Zarr folder, checked before the library decodes anything.

numcodecs finds the class of a codec by the name in the metadata: among them is one that loads pickles,
and packages that happen to be installed add others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
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


def check_codecs(folder: Path) -> None:
    """Raise `InvalidDataError` if an array of a Zarr folder names a codec that may run code.

    Damaged metadata raise other exceptions.
    """
    for path in _metadata_files(folder):
        if len(path.relative_to(folder).parts) > DEEPEST:
            raise InvalidDataError(folder, f"has groups inside groups, more than {DEEPEST}")
        if path.stat().st_size > LARGEST_BYTES:
            raise InvalidDataError(folder, f"has metadata of more than {LARGEST_BYTES / 1e6:.0f} MB")
        for name in _names(json.loads(path.read_bytes())):
            if name.removeprefix(PREFIX) not in KNOWN:
                problem = f"names the codec {name[:40]!a}, which is not one of the known"
                raise InvalidDataError(folder, problem, "store it with another, e.g. zstd")


def _metadata_files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in METADATA if name in names)


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
