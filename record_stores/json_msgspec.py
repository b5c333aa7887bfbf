"""JSON lines through msgspec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, SpecialFloat, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.msgspec_types import struct_of
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

# `encode_lines` returns the text of all records that it gets. Chosen, not measured.
_BLOCK_ROWS = 10_000


class Adapter(StreamStore):
    """A line of JSON for each record: msgspec encodes the dataclasses, and decodes to its `Struct`."""

    label = "JSON[msgspec]"
    suffix = ".jsonl"
    requires = ("msgspec", "zstandard")
    kind = ObjectKind.STRUCT
    refuses: ClassVar = {}
    changes_floats: ClassVar = {SpecialFloat.NAN: "null", SpecialFloat.INFINITE: "null"}
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    file_facts = FileFacts(silent="text names no settings of its writer")
    snippet = Snippet(
        imports="import msgspec\n{module}",
        write="""
            with {writer} as file:
                file.write(msgspec.json.Encoder().encode_lines(records))
        """,
        read="""
            with {reader} as file:
                records = msgspec.json.Decoder().decode_lines(file.read())
        """,
        given=Given.RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import msgspec

        encoder = msgspec.json.Encoder()
        file.writelines(encoder.encode_lines(block) for block in blocks(objects, _BLOCK_ROWS))

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        import msgspec

        return msgspec.json.Decoder(struct_of(of)).decode_lines(file.read())

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        import msgspec

        return map(msgspec.json.Decoder(struct_of(of)).decode, file)
