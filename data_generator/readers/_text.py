"""Opening of text files, compressed or not, and the position of bytes that are not UTF-8."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TextIO

from adapter_core import whole_file
from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors

if TYPE_CHECKING:
    from data_generator.readers._reader import ReadRequest

CHUNK_BYTES = 2**20


@contextmanager
def opened(request: ReadRequest) -> Iterator[TextIO]:
    """Open a file as UTF-8 text, without the byte order mark that some programs write."""
    with (
        whole_file.reading(request.path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        yield text


@contextmanager
def guard(request: ReadRequest, kind: str) -> Iterator[None]:
    """Convert errors of a reader of text to `InvalidDataError`, with the position of invalid UTF-8."""
    try:
        with library_errors(request.path, kind):
            yield
    except InvalidDataError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        with library_errors(request.path, kind):
            problem = _first_undecodable(request)
        raise InvalidDataError(request.path, problem, "save it as UTF-8") from error


def _first_undecodable(request: ReadRequest) -> str:
    """Return a phrase with the position and value of the first byte that is not UTF-8."""
    # Positions in libraries' messages are relative to a field or a buffer.
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    with whole_file.reading(request.path) as file:
        for chunk in [*iter(partial(file.read, CHUNK_BYTES), b""), b""]:
            held_back = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                at = position - held_back + error.start
                return f"is not UTF-8: byte {at:,} (counted from 0) is 0x{error.object[error.start]:02x}"
            position += len(chunk)
    return "is not UTF-8"
