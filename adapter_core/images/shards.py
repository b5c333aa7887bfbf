"""Sets of images as a directory of files of bounded size, each with many samples."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

SHARD_BYTES = 1 << 30
"""A shard is complete when it has as many."""

BUFFER_BYTES = 1 << 20

Pieces = Iterable[bytes | memoryview]


class Shard(NamedTuple):
    """One file of the directory."""

    path: Path
    samples: int
    size: int
    """Bytes that were written."""


def write_shards(folder: Path, ending: str, samples: Iterable[Pieces], end: bytes = b"") -> list[Shard]:
    """Write samples, each given in pieces, into the files 000000, 000001 and so on.

    There is one at least; each is ended by `end`.
    """
    shards: list[Shard] = []
    left = iter(samples)
    more = True
    while more:
        path = folder / f"{len(shards):06d}{ending}"
        count, more = 0, False
        with path.open("wb", buffering=BUFFER_BYTES) as file:
            for sample in left:
                file.writelines(sample)
                count += 1
                if file.tell() >= SHARD_BYTES:
                    more = True
                    break
            file.write(end)
            shards.append(Shard(path, count, file.tell()))
    return shards


def described(shards: Iterable[Shard]) -> list[dict[str, Any]]:
    """Return shards as the wids library lists them (https://webdataset.github.io/webdataset/wids)."""
    return [
        {"url": shard.path.name, "nsamples": shard.samples, "filesize": shard.size} for shard in shards
    ]


def checked(folder: Path, descriptions: Iterable[dict[str, Any]]) -> list[Shard]:
    """Return shards that have been described.

    Raises
    ------
    FileNotFoundError
        If one is not there.
    ValueError
        If one has another size than was written.
    """
    shards = [Shard(folder / each["url"], each["nsamples"], each["filesize"]) for each in descriptions]
    for path, _, written in shards:
        size = path.stat().st_size
        if size != written:
            raise ValueError(f"{path} has {size} bytes, and {written} were written")
    return shards
