"""What readers of text have in common: UTF-8, compressed as a whole or not."""

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
    from data_generator.readers._reader import Request

CHUNK_BYTES = 2**20


@contextmanager
def opened(request: Request) -> Iterator[TextIO]:
    """Open a file as text; the mark at the beginning that some programs write is left out."""
    with (
        whole_file.reading(request.path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        yield text


@contextmanager
def guard(request: Request, what: str) -> Iterator[None]:
    """Turn what a reader of text raises into `InvalidDataError`, which says where text is not UTF-8."""
    try:
        with library_errors(request.path, what):
            yield
    except InvalidDataError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        with library_errors(request.path, what):
            problem = _first_undecodable(request)
        raise InvalidDataError(request.path, problem, "save it as UTF-8") from error


def _first_undecodable(request: Request) -> str:
    """Return where the text is not UTF-8; libraries count from the start of a field or a buffer."""
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
