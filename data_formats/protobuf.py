"""Protobuf through Google's protobuf, with message types made at run time.

syntax = "proto3";
package table;

message Row {
  int64 whole = 1;
  optional string word = 2;  // a column with nulls
}

message Rows {
  repeated Row row = 1;
}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import whole_file
from adapter_core.tables.protobuf import ProtobufTable, message_class

if TYPE_CHECKING:
    from pathlib import Path

    from google.protobuf.descriptor_pb2 import FileDescriptorProto


class Adapter(ProtobufTable):
    """Length-delimited messages of Protobuf, written and read by `google.protobuf.proto`.

    After the messages that describe the table come `Rows` of up to 500 rows each: protobuf splits a
    stream into messages in Python, and repeated fields in C. Protobuf has no codecs: they compress the
    whole file, which other readers must decompress first.
    """

    label = "Protobuf"
    requires = ("pandas", "pyarrow>=15", "protobuf>=6", "zstandard")
    suite = "engines"
    codecs: ClassVar = whole_file.CODECS

    def _write_blocks(
        self, schema: FileDescriptorProto, blocks: Iterable[list[dict[str, Any]]], file: BinaryIO
    ) -> None:
        from google.protobuf import proto

        rows = message_class(schema, "Rows")
        for block in blocks:
            proto.serialize_length_prefixed(rows(row=block), file)

    def _row_blocks(self, schema: FileDescriptorProto, file: BinaryIO) -> Iterator[list[Any]]:
        from google.protobuf import proto

        rows = message_class(schema, "Rows")
        while message := proto.parse_length_prefixed(rows, file):
            yield list(message.row)

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)
