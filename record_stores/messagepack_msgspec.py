"""MessagePack through msgspec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.msgspec_types import struct_of
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader

    from adapter_core import RecordType


class Adapter(StreamStore):
    """One array of MessagePack with an array for each record, decoded to msgspec's `Struct`."""

    label = "MessagePack[msgspec]"
    suffix = ".msgpack"
    requires = ("msgspec", "zstandard")
    kind = ObjectKind.STRUCT
    refuses: ClassVar = {}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    iterates = "msgspec decodes whole messages, and the file is one"
    detects_truncation = True
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import msgspec\n{module}",
        write="""
            with {writer} as file:
                file.write(msgspec.msgpack.encode([list(record.values()) for record in records]))
        """,
        read="""
            with {reader} as file:
                rows = msgspec.msgpack.decode(file.read())
            records = [dict(zip(names, values)) for values in rows]
        """,
        given=Given.NAMED_RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import msgspec

        file.write(msgspec.msgpack.encode(list(map(of.plain, objects))))

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        import msgspec

        records: Any = list.__class_getitem__(struct_of(of, array_like=True))
        return msgspec.msgpack.Decoder(records).decode(file.read())
