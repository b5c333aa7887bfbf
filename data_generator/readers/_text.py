"""Opening of text files, compressed or not, and the position of bytes that are not UTF-8."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from adapter_core import whole_file
from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors
from data_generator.readers._reader import LESS, ReadRequest, available_bytes

CHUNK_BYTES = 2**20

# Longest line that is read to detect the columns.
LONGEST_LINE = 2**24


@contextmanager
def opened(request: ReadRequest) -> Iterator[TextIO]:
    """Open a file as UTF-8 text, without the byte order mark that some programs write."""
    with (
        whole_file.reading(request.path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        yield text


def check_unpacked(request: ReadRequest, most_for_a_byte: int, estimate: Callable[[bytes], int]) -> None:
    """Raise `InvalidDataError` if a text takes more memory as a table than is available.

    A file is unpacked for this alone, and no further than to the limit: its header may state any size.

    Parameters
    ----------
    request : ReadRequest
        The file.
    most_for_a_byte : int
        Memory of a table for each byte of its text, at most.
    estimate : callable
        Called with each part of the text, returns the least memory of the text so far, in bytes.
    """
    available = available_bytes()
    stored = request.path.stat().st_size
    if available is None or (request.codec is None and stored * most_for_a_byte < available):
        return
    unpacked = 0
    with whole_file.reading(request.path) as file:
        for chunk in iter(partial(file.read, CHUNK_BYTES), b""):
            unpacked += len(chunk)
            if estimate(chunk) > available:
                problem = (
                    f"takes more than the {available / 1e9:,.1f} GB of memory that are free: "
                    f"the first {unpacked / 1e6:,.0f} MB of its text do, as a table"
                )
                raise InvalidDataError(request.path, problem, LESS)


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
