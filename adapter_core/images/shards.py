"""Sets of images as a directory of files of bounded size, each with many samples."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# Usual for WebDataset: https://huggingface.co/docs/hub/datasets-webdataset
SHARD_BYTES = 1 << 30
"""Least size of a complete shard."""

# Some hundred small images for each call of the system.
BUFFER_BYTES = 1 << 20

INDEX = "index.json"

Pieces = Iterable[bytes | memoryview]


class Shard(NamedTuple):
    """One file of the directory."""

    path: Path
    samples: int
    size: int
    """Size in bytes."""


def write_shards(folder: Path, ending: str, samples: Iterable[Pieces], end: bytes = b"") -> list[Shard]:
    """Write samples, each in pieces, into the files 000000, 000001 and so on.

    At least one file is written; each ends with `end`.
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


def write_index(folder: Path, shards: Iterable[Shard], **fields: str | int) -> None:
    """Write index.json in the layout of the wids library.

    https://webdataset.github.io/webdataset/wids

    Parameters
    ----------
    folder : Path
        The directory of the shards.
    shards : iterable of Shard
        All of them.
    **fields : str or int
        Further fields of the file.
    """
    descriptions = [
        {"url": shard.path.name, "nsamples": shard.samples, "filesize": shard.size} for shard in shards
    ]
    text = json.dumps({**fields, "shardlist": descriptions})
    (folder / INDEX).write_text(text, encoding="utf-8")


def read_index(folder: Path) -> list[Shard]:
    """Return the shards of index.json.

    Raises
    ------
    FileNotFoundError
        If a shard is missing.
    ValueError
        If a shard has another size than was written.
    """
    descriptions = json.loads((folder / INDEX).read_text(encoding="utf-8"))["shardlist"]
    shards = [Shard(folder / each["url"], each["nsamples"], each["filesize"]) for each in descriptions]
    for path, _, written in shards:
        size = path.stat().st_size
        if size != written:
            raise ValueError(f"{path} has {size} bytes, and {written} were written")
    return shards
