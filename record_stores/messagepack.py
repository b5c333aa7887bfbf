"""MessagePack through msgpack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

# As msgpack's own default for bytes in memory.
_NO_LIMIT = 2**31 - 1


class Adapter(StreamStore):
    """An array of MessagePack for each record, in order of the fields, by `Packer` and `Unpacker`."""

    label = "MessagePack"
    suffix = ".msgpack"
    requires = ("msgpack", "zstandard")
    kind = ObjectKind.TUPLE
    refuses: ClassVar = {}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import msgpack\n{module}",
        write="""
            with {writer} as file:
                pack = msgpack.Packer().pack
                for record in records:
                    file.write(pack(list(record.values())))
        """,
        read="""
            with {reader} as file:
                rows = msgpack.Unpacker(file, use_list=False, max_buffer_size=2**31 - 1)
                records = [dict(zip(names, values)) for values in rows]
        """,
        given=Given.NAMED_RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import msgpack

        pack = msgpack.Packer().pack
        file.writelines(map(pack, map(of.plain, objects)))

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        import msgpack

        unpacker = msgpack.Unpacker(file, use_list=False, max_buffer_size=_NO_LIMIT)
        yield from unpacker
        # Unpacker ends silently within a record.
        if unpacker.tell() != file.tell():
            raise ValueError("the file ends within a record")
