"""Codec of an Arrow IPC file, which pyarrow does not report."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FIRST_MESSAGE = 8  # bytes of a file before its messages, which form a stream

# In a compressed body, in place of the length of a buffer that compression would not make smaller.
_NOT_COMPRESSED = -1

_HEADER = 2  # field of the table Message; a DictionaryBatch's has the RecordBatch as _DATA
_DATA = 1
_BUFFERS, _COMPRESSION = 2, 3  # fields of RecordBatch
_CODEC = 0  # field of BodyCompression
_CODECS = {0: "lz4", 1: "zstd"}
_BUFFER = struct.Struct("<qq")  # offset in the message's body and length, in bytes


def codec_of_file(path: Path, *, declared: bool = False) -> str | None:
    """Return the codec of the first compressed buffer in a file; None without one.

    Parameters
    ----------
    path : Path
        The file.
    declared : bool
        Return the codec of the first record batch, also if it made no buffer smaller.

    Notes
    -----
    pyarrow reads the codec but does not report it. Each message starts with a flatbuffer, whose tables
    are parsed here as far as needed: https://github.com/apache/arrow/blob/main/format/Message.fbs,
    https://flatbuffers.dev/internals
    """
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        file.seek(_FIRST_MESSAGE)
        for message in pa.ipc.MessageReader.open_stream(file):
            if message.type == "schema":
                continue
            batch = _root(message.metadata.to_pybytes()).table(_HEADER)
            if message.type == "dictionary" and batch:
                batch = batch.table(_DATA)
            compression = batch and batch.table(_COMPRESSION)
            if (
                batch
                and compression
                and (declared or any(map(_is_compressed, _buffers(batch, message.body))))
            ):
                return _CODECS[compression.byte(_CODEC)]
    return None


def _is_compressed(buffer: memoryview) -> bool:
    return struct.unpack_from("<q", buffer)[0] != _NOT_COMPRESSED


def _buffers(batch: _FlatbufferTable, body: memoryview) -> Iterator[memoryview]:
    """Yield the buffers with at least one byte."""
    start = batch.target(_BUFFERS)
    (count,) = struct.unpack_from("<I", batch.data, start)
    for i in range(count):
        offset, length = _BUFFER.unpack_from(batch.data, start + 4 + i * _BUFFER.size)
        if length:
            yield memoryview(body)[offset : offset + length]


@dataclass(frozen=True)
class _FlatbufferTable:
    """A table of a flatbuffer."""

    data: bytes
    start: int

    def table(self, field: int) -> _FlatbufferTable | None:
        """Return the table behind a field; None without it."""
        return _FlatbufferTable(self.data, self.target(field)) if self._place(field) else None

    def target(self, field: int) -> int:
        """Return the position of the table or vector behind a field."""
        place = self._place(field)
        return place + struct.unpack_from("<I", self.data, place)[0]

    def byte(self, field: int) -> int:
        """Return a field of one byte; 0 without it."""
        place = self._place(field)
        return self.data[place] if place else 0

    def _place(self, field: int) -> int:
        """Return the position of a field; 0 without it."""
        fields = self.start - struct.unpack_from("<i", self.data, self.start)[0]
        (size,) = struct.unpack_from("<H", self.data, fields)
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, fields + entry)[0] if entry < size else 0
        return self.start + offset if offset else 0


def _root(data: bytes) -> _FlatbufferTable:
    return _FlatbufferTable(data, struct.unpack_from("<I", data)[0])
