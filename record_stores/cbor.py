"""CBOR through cbor2."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

# cbor2 reads its file anew for each item of a sequence.
_BLOCK_ROWS = 500


class Adapter(StreamStore):
    """A CBOR sequence (RFC 8742) of arrays of up to 500 records, each an array of its fields."""

    label = "CBOR"
    suffix = ".cbor"
    requires = ("cbor2", "zstandard")
    kind = ObjectKind.LIST
    refuses: ClassVar = {}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import cbor2\n{module}",
        write="""
            with {writer} as file:
                file.write(cbor2.dumps([list(record.values()) for record in records]))
        """,
        read="""
            with {reader} as file:
                records = [dict(zip(names, values)) for values in cbor2.loads(file.read())]
        """,
        given=Given.NAMED_RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import cbor2

        plain = of.plain
        file.writelines(cbor2.dumps(list(map(plain, block))) for block in blocks(objects, _BLOCK_ROWS))

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        return chain.from_iterable(_items(file))


def _items(file: BufferedReader) -> Iterator[list[Any]]:
    import cbor2

    decoder = cbor2.CBORDecoder(file)
    while file.peek(1):
        yield decoder.decode()
