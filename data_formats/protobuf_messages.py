"""Protobuf, one message a row, through Google's protobuf."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from adapter_core.tables.protobuf import ProtobufTable, message_class
from adapter_core.tables.rows import BLOCK_ROWS

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

# The highest bit of a byte marks that the number goes on: https://protobuf.dev/programming-guides/encoding/
_GOES_ON = 0x80


class Adapter(ProtobufTable):
    """Length-delimited messages of Protobuf, one for each row.

    After the messages that describe the table comes a `Row` for each row, with its length before it.
    Lengths are taken apart in Python, from the mapped file.
    """

    label = "Protobuf.messages"
    requires = ("pandas", "pyarrow>=15", "protobuf>=6")
    suite = "analysis"

    def _write_blocks(
        self, schema: FileDescriptorProto, blocks: Iterable[list[dict[str, Any]]], file: BinaryIO
    ) -> None:
        row = message_class(schema, "Row")
        for block in blocks:
            # By the class, since a column may have the name of a method.
            parts = [row.SerializeToString(row(**fields)) for fields in block]
            file.write(b"".join(piece for part in parts for piece in (_varint(len(part)), part)))

    def _row_blocks(self, schema: FileDescriptorProto, file: BinaryIO) -> Iterator[list[Any]]:
        rows = map(message_class(schema, "Row").FromString, _messages(file))
        while block := list(islice(rows, BLOCK_ROWS)):
            yield block


def _varint(number: int) -> bytes:
    """Return the bytes of a number, seven bits each, from the lowest to the highest."""
    found = bytearray()
    while number >= _GOES_ON:
        found.append(number & (_GOES_ON - 1) | _GOES_ON)
        number >>= 7
    found.append(number)
    return bytes(found)


def _messages(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of each message from the position of the file on.

    Raises
    ------
    ValueError
        If the file ends inside a message.
    """
    position = file.tell()
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data)
        while position < end:
            size = shift = 0
            byte = _GOES_ON
            while byte >= _GOES_ON and position < end:
                byte = data[position]
                size |= (byte & (_GOES_ON - 1)) << shift
                shift += 7
                position += 1
            if position + size > end or byte >= _GOES_ON:
                raise ValueError("the file ends inside a row")
            yield data[position : position + size]
            position += size
