"""Files of BSON documents in pieces, so that not all rows are Python objects at once."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

READ_BYTES = 2**16
"""What is read of the file at a time: some hundred documents, as many as are written at a time."""

LENGTH = struct.Struct("<i")
"""Begins a document and counts itself: https://bsonspec.org/spec.html"""

SHORTEST_BYTES = 5
"""Length of an empty document."""


def whole_documents(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end where a document ends.

    The last piece ends with the file, where a reader of documents tells one that is incomplete.

    Raises
    ------
    ValueError
        If a document says that it is shorter than an empty one.
    struct.error
        If the file ends within the length of a document.
    """
    while data := file.read(READ_BYTES):
        end = _end_of_documents(data)
        if not end:
            (length,) = LENGTH.unpack_from(data)
            data += file.read(length - len(data))
            end = len(data)
        file.seek(end - len(data), os.SEEK_CUR)
        yield data[:end]


def _end_of_documents(data: bytes) -> int:
    """Return where the last document ends that is complete."""
    end = 0
    while end + SHORTEST_BYTES <= len(data):
        (length,) = LENGTH.unpack_from(data, end)
        if length < SHORTEST_BYTES:
            raise ValueError(f"a BSON document cannot be {length:,} bytes long")
        if end + length > len(data):
            break
        end += length
    return end
