"""BSON through pymongo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import CannotHoldError, FieldKind, Given, ObjectKind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.documents import documents
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

    from adapter_core import RecordType

MOST_DIGITS = 34
"""Digits of IEEE 754's decimal128, of which BSON's decimals are (https://bsonspec.org/spec.html)."""


class Adapter(StreamStore):
    """BSON documents one after another, as in the files of mongodump, by `bson.encode`."""

    label = "BSON"
    suffix = ".bson"
    requires = ("pymongo", "zstandard")
    modules: ClassVar = {"pymongo": "bson"}
    kind = ObjectKind.DICT
    refuses: ClassVar = {FieldKind.TIMESTAMP: "its dates have milliseconds, and these microseconds"}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = Snippet(
        imports="import bson\n{module}",
        write="""
            with {writer} as file:
                file.write(b"".join(map(bson.encode, records)))
        """,
        read="""
            with {reader} as file:
                records = bson.decode_all(file.read())
        """,
        given=Given.RECORDS,
    )

    def refusal(self, of: RecordType) -> str:
        """Return why the store cannot keep records of a type, digits of decimals included."""
        fields = [each for one in of.types() for each in one.fields]
        long = next((each for each in fields if each.inner.precision > MOST_DIGITS), None)
        found = super().refusal(of)
        if found or long is None:
            return found
        digits = f"it has up to {long.inner.precision} digits, and decimals here have {MOST_DIGITS}"
        return (
            f"{self.label} cannot store these records: the field {long.name} is of the kind "
            f"{FieldKind.DECIMAL}; {digits}"
        )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import bson

        decimals = {FieldKind.DECIMAL: bson.Decimal128}
        try:
            file.writelines(map(bson.encode, documents(objects, of, decimals)))
        except bson.errors.InvalidDocument as error:  # a key of a map with NUL
            raise CannotHoldError(f"{self.label} cannot store these records: {error}") from error

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        import bson

        return bson.decode_all(file.read())

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        import bson

        return bson.decode_file_iter(file)
