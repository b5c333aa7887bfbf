"""Protobuf through Google's protobuf, a message for each record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import ObjectKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.protobuf_types import REFUSES, mapping_of, message_of, plain_of_message
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType


class Adapter(StreamStore):
    """A length-delimited message for each record, as the published program writes them."""

    label = "Protobuf[delimited]"
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

        message, mapping = message_of(of), mapping_of(of)
        for each in objects:
            proto.serialize_length_prefixed(message(**mapping(each)), file)

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        from google.protobuf import proto

        message = message_of(of)
        return iter(lambda: proto.parse_length_prefixed(message, file), None)
