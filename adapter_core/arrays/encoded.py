"""Base class of stores that write the bytes of chunks themselves, and the description beside these."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from adapter_core import ArraySource, ArrayStore, Description, Selection
from adapter_core.arrays import chunk_codecs


@dataclass(frozen=True, eq=False)
class StoredDescription:
    """Description of an array, and the codec of its chunks."""

    array: Description
    codec: str | None
    level: int | None

    @classmethod
    def of_source(cls, source: ArraySource, codec: str | None, level: int | None) -> Self:
        """Return the description of a source that is saved with a codec."""
        return cls(Description.of(source), codec, level)

    def to_json(self) -> str:
        """Return the description as JSON."""
        facts = {"array": self.array.to_dict(), "codec": self.codec, "level": self.level}
        return json.dumps(facts)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the description of a text from `to_json`."""
        facts = json.loads(text)
        return cls(Description.from_dict(facts["array"]), facts["codec"], facts["level"])


class EncodedStore(ArrayStore):
    """A store that compresses each chunk by one of `chunk_codecs.CODECS`."""

    codecs: ClassVar = chunk_codecs.CODECS
    checksums = "checksums of the content of each frame of zstd (XXH64) and lz4 (XXH32)"
    checksum_codecs = chunk_codecs.CHECKED
    snippet = "it compresses chunks itself; numpy.save writes one file for an array, see NPY.memmap"

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if codec == "pcodec" and source.dtype.name not in chunk_codecs.PCODEC_DTYPES:
            raise self.refusal(f"pcodec does not compress values of type {source.dtype}")
        if codec == "pcodec" and 0 in source.shape:
            raise self.refusal("pcodec compresses no empty arrays")
        if codec == "fpzip" and source.dtype.name not in chunk_codecs.FPZIP_DTYPES:
            raise self.refusal(f"fpzip compresses float32 and float64 only, not {source.dtype}")
        if codec == "fpzip" and 0 in source.shape:
            raise self.refusal("fpzip compresses no empty arrays")

    def _codec_used(self, path: Path) -> str | None:
        codec, chunk = self._first_chunk(path)
        if codec is not None and not chunk_codecs.is_encoded_by(chunk, codec):
            raise ValueError(f"{path.name}: its first chunk is not compressed by {codec}")
        return codec

    @abstractmethod
    def _first_chunk(self, path: Path) -> tuple[str | None, bytes]:
        """Return the codec of the description, and the bytes of the first chunk."""


def chunk_index(selection: Selection, chunks: tuple[int, ...], first_row: int = 0) -> tuple[int, ...]:
    """Return the index of a chunk in a grid that starts `first_row` rows before the source."""
    index = [each.start // chunk for each, chunk in zip(selection, chunks, strict=True)]
    return tuple([index[0] + first_row, *index[1:]] if index else index)


def chunk_name(index: tuple[int, ...]) -> str:
    """Return the file name of a chunk, e.g. "0.3.1.npy"."""
    return f"{'.'.join(map(str, index)) or '0'}.npy"
