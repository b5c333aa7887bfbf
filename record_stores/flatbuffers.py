"""FlatBuffers through Google's flatbuffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BufferedReader
from struct import Struct
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import FieldKind, ObjectKind, Shape, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.record_type import decimal_text, microseconds
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from adapter_core import Field, RecordType

_UINT32 = Struct("<I").unpack_from

# Bytes of an offset, and of the length of a vector.
_FOUR = 4

# How the builder names a number, and struct its bytes; all others are references.
_NUMBERS = {
    FieldKind.BOOL: ("Bool", Struct("<?")),
    FieldKind.INT32: ("Int32", Struct("<i")),
    FieldKind.INT64: ("Int64", Struct("<q")),
    FieldKind.FLOAT: ("Float32", Struct("<f")),
    FieldKind.DOUBLE: ("Float64", Struct("<d")),
    FieldKind.TIMESTAMP: ("Int64", Struct("<q")),
    FieldKind.ENUM: ("Int32", Struct("<i")),
}
_FLOATS = {FieldKind.FLOAT, FieldKind.DOUBLE}
# From a value of an object to a number.
_PLAIN: dict[FieldKind, Callable[[Any], int]] = {FieldKind.TIMESTAMP: microseconds, FieldKind.ENUM: int}


class Adapter(StreamStore):
    """A size-prefixed buffer for each record, read as views of the bytes of the whole file.

    The package has no compiler of schemas: tables are built and read by its `Builder` and `Table`, which
    are Python, as the code that a compiler makes would do.
    """

    label = "FlatBuffers"
    suffix = ".flatbuf"
    refuses: ClassVar = {
        FieldKind.MAP: "a vector of pairs would take its place",
        FieldKind.UNION: "a union is of tables",
        Shape.NULLS_WITHIN: "an element of a vector is never null",
        Shape.NESTED_LIST: "a vector has no vectors for elements",
    }
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
    import flatbuffers

    count = 1 + max(map(_slot, (*of.fields, *of.retired)))
    values = of.values
    fields = []
    for each in of.fields:
        reference, plain = _reference_builder(each), _PLAIN.get(each.kind)
        name = "UOffsetTRelative" if reference else _NUMBERS[each.kind][0]
        prepend = getattr(flatbuffers.Builder, f"Prepend{name}Slot")
        fields.append((_slot(each), prepend, reference, plain, 0 if reference else _default(each)))

    def build(builder: Any, each: Any) -> int:
        found = []
        # Whatever a table refers to is written before it.
        for value, (slot, prepend, reference, plain, default) in zip(values(each), fields):  # noqa: B905
            if value is not None:
                if reference is not None:
                    value = reference(builder, value)  # noqa: PLW2901 (its offset)
                elif plain is not None:
                    value = plain(value)  # noqa: PLW2901 (its number)
                found.append((prepend, slot, value, default))
        builder.StartObject(count)
        for prepend, slot, value, default in found:
            prepend(builder, slot, value, default)
        return builder.EndObject()

    return build


def _default(of: Field) -> Any:
    """Return the value of a number that is not written; None if all are.

    Of an optional one, which is absent if it is null, all are, and of floats, since -0.0 equals 0.0.
    """
    if of.optional or of.kind in _FLOATS:
        return None
    return of.default or 0


def _reference_builder(of: Field) -> Callable[[Any, Any], int] | None:
    """Return the function that writes a value that a table refers to; None for numbers in the table."""
    if of.record is not None:
        return _table_builder(of.record)
    if of.kind is FieldKind.TEXT:
        return lambda builder, value: builder.CreateString(value)
    if of.kind is FieldKind.DECIMAL:
        return lambda builder, value: builder.CreateString(decimal_text(value))
    if of.kind is FieldKind.BYTES:
        return lambda builder, value: builder.CreateByteVector(value)
    return None if of.element is None else _vector_builder(of.element)


def _vector_builder(of: Field) -> Callable[[Any, Any], int]:
    """Return the function that writes a list of elements and returns its offset."""
    import flatbuffers

    reference, plain = _reference_builder(of), _PLAIN.get(of.kind)
    name, size = ("UOffsetTRelative", _FOUR) if reference else _number(of)
    prepend = getattr(flatbuffers.Builder, f"Prepend{name}")

    def vector(builder: Any, values: list[Any]) -> int:
        if reference is not None:
            values = [reference(builder, value) for value in values]
        elif plain is not None:
            values = list(map(plain, values))
        builder.StartVector(size, len(values), size)
        for value in reversed(values):
            prepend(builder, value)
        return builder.EndVector()

    return vector


def _number(of: Field) -> tuple[str, int]:
    name, form = _NUMBERS[of.kind]
    return name, form.size


@cache
def _view_of(of: RecordType) -> Any:
    """Return the class of the views of a record type, with a property for each field."""
    from flatbuffers.table import Table

    def make(self: Any, data: bytes, position: int) -> None:
        self._table = Table(data, position)

    members: dict[str, Any] = {"__slots__": ("_table",), "__init__": make}
    members |= {each.name: property(_getter(each)) for each in of.fields}
    return type(of.name, (), members)


def _getter(of: Field) -> Callable[[Any], Any]:
    # The table of offsets starts with two sizes of 2 bytes each.
    place = _FOUR + 2 * _slot(of)
    absent, decode = _absent(of), _decoder(of)

    def get(self: Any) -> Any:
        table = self._table  # a field may have the name without the line
        offset = table.Offset(place)
        return decode(table, table.Pos + offset) if offset else absent

    return get


def _absent(of: Field) -> Any:
    """Return the value of a field that is not written: its default, or null or empty."""
    if of.optional:
        return None
    if of.kind is FieldKind.BOOL:
        return False
    if of.kind is FieldKind.LIST:
        return []
    zero = 0.0 if of.kind in _FLOATS else 0
    return (of.default or zero) if of.kind in _NUMBERS else None


def _decoder(of: Field) -> Callable[[Any, int], Any]:
    """Return the function that decodes a value at a position, or a value that is referred to there."""
    if of.kind in _NUMBERS:
        unpack = _NUMBERS[of.kind][1].unpack_from
        return lambda table, position: unpack(table.Bytes, position)[0]
    if of.record is not None:
        view = _view_of(of.record)
        return lambda table, position: view(table.Bytes, table.Indirect(position))
    if of.kind is FieldKind.BYTES:
        return lambda table, position: table.String(position)
    return _list_decoder(of.element) if of.element is not None else _text


def _text(table: Any, position: int) -> str:
    return str(table.String(position), "utf-8")


def _list_decoder(of: Field) -> Callable[[Any, int], Any]:
    decode = _decoder(of)
    size = _number(of)[1] if of.kind in _NUMBERS else _FOUR

    def values(table: Any, position: int) -> list[Any]:
        offset = position - table.Pos
        start, length = table.Vector(offset), table.VectorLen(offset)
        return [decode(table, each) for each in range(start, start + size * length, size)]

    return values
