"""FlatBuffers through Google's flatbuffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BufferedReader
from struct import Struct
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import FieldKind, ObjectKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from adapter_core import Field, RecordType

_UINT32, _INT32 = Struct("<I").unpack_from, Struct("<i").unpack_from

# Bytes of an offset, of a number, and of the length of a vector.
_FOUR = 4


class Adapter(StreamStore):
    """A size-prefixed buffer for each record, read as views of the bytes of the whole file.

    The package has no compiler of schemas: tables are built and read by its `Builder` and `Table`, which
    are Python, as the code that a compiler makes would do.
    """

    label = "FlatBuffers"
    suffix = ".flatbuf"
    requires = ("flatbuffers>=24", "zstandard")
    kind = ObjectKind.MESSAGE
    lazy = "a field is decoded when it is used, each time anew"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "its schema is made from the record type at run time; a program's comes from a .fbs file, "
        "by flatc"
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        import flatbuffers

        builder = flatbuffers.Builder(1024)
        build = _table_builder(of)
        for each in objects:
            builder.Clear()
            builder.FinishSizePrefixed(build(builder, each))
            file.write(builder.Output())

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        view = _view_of(of)
        data = file.read()
        position = 0
        while position < len(data):
            (size,) = _UINT32(data, position)
            start = position + _FOUR
            position = start + size
            if position > len(data):
                raise ValueError("the file ends within a record")
            yield view(data, start + _UINT32(data, start)[0])


def _slot(of: Field) -> int:
    """Return the place of a field in the table of offsets, from 0."""
    return of.number - 1


def _table_builder(of: RecordType) -> Callable[[Any, Any], int]:
    """Return the function that writes an object to a builder and returns its offset."""
    count = 1 + max(map(_slot, (*of.fields, *of.retired)))
    fields = [(_slot(each), each, _reference_builder(each)) for each in of.fields]

    def build(builder: Any, each: Any) -> int:
        values = []
        # Whatever a table refers to is written before it.
        for slot, field, reference in fields:
            value = getattr(each, field.name)
            if reference is not None and value is not None:
                value = reference(builder, value)
            values.append((slot, field, value, reference is not None))
        builder.StartObject(count)
        for slot, field, value, refers in values:
            if value is None:
                continue
            if refers:
                builder.PrependUOffsetTRelativeSlot(slot, value, 0)
            else:
                builder.PrependInt32Slot(slot, int(value), _default(field))
        return builder.EndObject()

    return build


def _default(of: Field) -> int | None:
    """Return the value of a number that is not written; None if it is null."""
    return None if of.optional else of.default or 0


def _reference_builder(of: Field) -> Callable[[Any, Any], int] | None:
    """Return the function that writes a value that a table refers to; None for numbers in the table."""
    one: Callable[[Any, Any], int] | None = None
    if of.record is not None:
        one = _table_builder(of.record)
    elif of.kind is FieldKind.TEXT:
        one = lambda builder, value: builder.CreateString(value)  # noqa: E731 (one of two ways)
    if not of.repeated:
        return one

    def vector(builder: Any, values: list[Any]) -> int:
        offsets = [one(builder, value) for value in values] if one else values
        builder.StartVector(_FOUR, len(values), _FOUR)
        for value in reversed(offsets):
            if one:
                builder.PrependUOffsetTRelative(value)
            else:
                builder.PrependInt32(int(value))
        return builder.EndVector()

    return vector


@cache
def _view_of(of: RecordType) -> Any:
    """Return the class of the views of a record type, with a property for each field."""
    from flatbuffers.table import Table

    def make(self: Any, data: bytes, position: int) -> None:
        self.table = Table(data, position)

    members: dict[str, Any] = {"__slots__": ("table",), "__init__": make}
    members |= {each.name: property(_getter(each)) for each in of.fields}
    return type(of.name, (), members)


def _getter(of: Field) -> Callable[[Any], Any]:
    # The table of offsets starts with two sizes of 2 bytes each.
    place = _FOUR + 2 * _slot(of)
    default = _default(of)
    decode = _decoder(of)

    def get(self: Any) -> Any:
        table = self.table
        offset = table.Offset(place)
        if not offset:
            return [] if of.repeated else None if decode is not None else default
        if not of.repeated:
            position = table.Pos + offset
            return _int32(table.Bytes, position) if decode is None else decode(table, position)
        start, length = table.Vector(offset), table.VectorLen(offset)
        positions = range(start, start + _FOUR * length, _FOUR)
        if decode is None:
            return [_int32(table.Bytes, position) for position in positions]
        return [decode(table, position) for position in positions]

    return get


def _int32(data: bytes, position: int) -> int:
    (value,) = _INT32(data, position)
    return int(value)


def _decoder(of: Field) -> Callable[[Any, int], Any] | None:
    """Return the function that follows a reference at a position; None for numbers."""
    if of.record is not None:
        view = _view_of(of.record)
        return lambda table, position: view(table.Bytes, table.Indirect(position))
    if of.kind is FieldKind.TEXT:
        return lambda table, position: table.String(position).decode()
    return None
