"""Protobuf through Google's protobuf, in blocks."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import ObjectKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.protobuf_types import REFUSES, block_of, mapping_of, plain_of_message
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

# Messages of a single record take twice the CPU: for a million, 3.6 s to write and 2.1 s to read, and
# blocks 1.7 s and 0.9 s.
_BLOCK_ROWS = 500


class Adapter(StreamStore):
    """Length-delimited messages of up to 500 records in a repeated field.

    protobuf splits a stream into messages in Python, and a repeated field in C: half of the time of
    a message for each record.
    """

    label = "Protobuf"
    suffix = ".pb"
    requires = ("protobuf>=6", "zstandard")
    modules: ClassVar = {"protobuf": "google.protobuf"}
    kind = ObjectKind.MESSAGE
    lazy = "texts are decoded when they are used, each time anew"
    refuses = REFUSES
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "its classes are made from the record type at run time; a program's come from a .proto "
        "file, by protoc"
    )

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        return plain_of_message(of)

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        from google.protobuf import proto

        message, mapping = block_of(of), mapping_of(of)
        for block in blocks(objects, _BLOCK_ROWS):
            proto.serialize_length_prefixed(message(record=list(map(mapping, block))), file)

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        from google.protobuf import proto

        message = block_of(of)
        read = iter(lambda: proto.parse_length_prefixed(message, file), None)
        return chain.from_iterable(block.record for block in read)
