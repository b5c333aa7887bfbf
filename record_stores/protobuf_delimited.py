"""Protobuf through Google's protobuf, a message for each record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from adapter_core.records.protobuf_types import MessageStream, mapping_of, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType


class Adapter(MessageStream):
    """A length-delimited message for each record, as the published program writes them."""

    label = "Protobuf[delimited]"
    suffix = ".pb"
    requires = ("protobuf>=6", "zstandard")

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        from google.protobuf import proto

        message, mapping = message_of(of), mapping_of(of)
        for each in objects:
            proto.serialize_length_prefixed(message(**mapping(each)), file)

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        from google.protobuf import proto

        message = message_of(of)
        return iter(lambda: proto.parse_length_prefixed(message, file), None)
