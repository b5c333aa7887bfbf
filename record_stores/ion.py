"""Amazon Ion through amazon.ion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.documents import documents
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

# Each block begins with the table of the fields' names, and is in memory as a whole.
_BLOCK_ROWS = 1_000


class Adapter(StreamStore):
    """Binary Ion streams with a structure for each record, by the library's C extension.

    A stream of up to 1,000 records has the names of fields once, in its symbol table; several streams in
    a file are one to every reader. It is read to Python's own types, without the annotations that Ion
    may have.

    Format: https://amazon-ion.github.io/ion-docs/docs/binary.html
    """

    label = "Ion"
    suffix = ".10n"
    requires = ("amazon-ion", "zstandard")
    modules: ClassVar = {"amazon-ion": "amazon.ion"}
    kind = ObjectKind.DICT
    refuses: ClassVar = {}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="from amazon.ion import simpleion\n{module}",
        write="""
            with {writer} as file:
                simpleion.dump(records, file, binary=True, sequence_as_stream=True)
        """,
        read="""
            kinds = simpleion.IonPyValueModel
            model = kinds.MAY_BE_BARE | kinds.SYMBOL_AS_TEXT | kinds.STRUCT_AS_STD_DICT
            with {reader} as file:
                records = simpleion.load(file, single_value=False, value_model=model)
        """,
        given=Given.RECORDS,
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        from amazon.ion import simpleion

        for block in blocks(objects, _BLOCK_ROWS):
            records = list(documents(block, of))
            simpleion.dump(records, file, binary=True, sequence_as_stream=True)

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        # In two thirds of the time of a list of the iterator's, which enters a context for each record.
        records: list[Any] = _loaded(file, parse_eagerly=True)
        return records

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        records: Iterator[Any] = _loaded(file, parse_eagerly=False)
        return records


def _loaded(file: BufferedReader, *, parse_eagerly: bool) -> Any:
    from amazon.ion import simpleion

    kinds = simpleion.IonPyValueModel
    model = kinds.MAY_BE_BARE | kinds.SYMBOL_AS_TEXT | kinds.STRUCT_AS_STD_DICT
    return simpleion.load(file, single_value=False, parse_eagerly=parse_eagerly, value_model=model)
