"""Record stores that write a stream of bytes, compressed as a whole if a codec is chosen."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, cast

from adapter_core import RecordStore, RecordType, whole_file

_LENGTH = Struct("<I")
# About a thousand records at a time for compressors; see `_save`.
_BUFFER_BYTES = 2**17


class StreamStore(RecordStore):
    """A store whose file is written and read from its first byte to its last.

    A subclass implements `_write`, and `_iterate_stream`, or `_read_stream` if `iterates` has a reason.
    """

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the code that opens the file."""
        return whole_file.code_to_open("{path}", codec, level)

    def _save(
        self,
        objects: Sequence[Any],
        of: RecordType,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        with whole_file.writing(path, codec, level) as file:
            if codec is None:
                self._write(objects, of, file)
                return
            # Records are a hundred bytes: a compressor called for each takes several times as long.
            with io.BufferedWriter(_Open(file), _BUFFER_BYTES) as buffered:
                self._write(objects, of, buffered)

    def _read(self, path: Path, of: RecordType) -> list[Any]:
        with _reading(path) as file:
            return self._read_stream(file, of)

    def _iterate(self, path: Path, of: RecordType) -> Iterator[Any]:
        with _reading(path) as file:
            yield from self._iterate_stream(file, of)

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)

    @abstractmethod
    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        """Write all objects."""

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        """Read all records; by default one after another."""
        return list(self._iterate_stream(file, of))

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        """Iterate over the records."""
        raise NotImplementedError(f"{type(self).__module__}: iterates, so it must override this")


class _Open(io.RawIOBase):
    """Raw file that writes to another one, and leaves it open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(data)
        return len(data)


@contextmanager
def _reading(path: Path) -> Iterator[BufferedReader[Any]]:
    with whole_file.reading(path) as file:
        if isinstance(file, BufferedReader):
            yield file
        else:
            # zstandard's files know no lines.
            with BufferedReader(cast("io.RawIOBase", file), _BUFFER_BYTES) as buffered:
                yield buffered


def blocks(objects: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Yield consecutive lists of up to `size` objects."""
    remaining = iter(objects)
    while block := list(islice(remaining, size)):
        yield block


def write_frame(data: bytes | bytearray, file: BinaryIO) -> None:
    """Write bytes after their number, 4 bytes in little-endian order."""
    file.write(_LENGTH.pack(len(data)))
    file.write(data)


def read_frames(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of all frames that `write_frame` has written.

    Raises
    ------
    ValueError
        If the file ends within a frame.
    """
    while header := file.read(_LENGTH.size):
        if len(header) == _LENGTH.size:
            (length,) = _LENGTH.unpack(header)
            data = file.read(length)
            if len(data) == length:
                yield data
                continue
        raise ValueError("the file ends within a frame")
