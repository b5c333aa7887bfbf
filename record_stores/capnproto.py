"""Cap'n Proto through pycapnp."""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import FieldKind, ObjectKind, Shape, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.record_type import decimal_text, microseconds
from adapter_core.records.documents import schema_name
from adapter_core.records.stream import StreamStore, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

    from adapter_core import Field, RecordType

# As in `record_stores.protobuf`, which has the measurement.
_BLOCK_ROWS = 500

# Any number with the highest bit set; types of different files never meet.
_FILE_ID = "@0x934efea7f017fff0"

# By default a reader refuses messages of more than 64 MiB, against amplification by hostile ones.
_NO_LIMIT = 2**61


class Adapter(StreamStore):
    """Messages of up to 500 records in a list, one after another, without packing."""

    label = "CapnProto"
    suffix = ".capnp"
    refuses: ClassVar = {
        FieldKind.MAP: "a list of pairs would take its place",
        FieldKind.UNION: "structs that are made at run time here have unions for nulls alone",
        Shape.NULLS_WITHIN: "an element of a list is never null",
    }
    requires = ("pycapnp", "zstandard")
    modules: ClassVar = {"pycapnp": "capnp"}
    kind = ObjectKind.MESSAGE
    lazy = "a field is decoded when it is used, each time anew"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = "its schema is made from the record type at run time; a program's comes from a .capnp file"

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        return _plain(of)

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        block = _block_of(of)
        mapping = _mapping_of(of)
        file.writelines(
            block.new_message(records=list(map(mapping, rows))).to_bytes()
            for rows in blocks(objects, _BLOCK_ROWS)
        )

    def _iterate_stream(self, file: BufferedReader, of: RecordType) -> Iterator[Any]:
        data = file.read()
        messages = _block_of(of).read_multiple_bytes(data, traversal_limit_in_words=_NO_LIMIT)
        return chain.from_iterable(message.records for message in messages)


def _block_of(of: RecordType) -> Any:
    """Return the struct with a list of records."""
    return _module_of(of)[1].Block


@cache
def _module_of(of: RecordType) -> tuple[Any, Any]:
    """Return a parser and the module of a type's schema, which is invalid without its parser."""
    import capnp

    # A parser of its own: the usual one knows files by path.
    parser = capnp.SchemaParser()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.capnp")
        path.write_text(schema_text(of), encoding="ascii")
        return parser, parser.load(str(path))


def schema_text(of: RecordType) -> str:
    """Return the schema of a record type in Cap'n Proto's language."""
    lines = [f"{_FILE_ID};"]
    for each in of.types():
        lines.append(f"struct {each.name} {{")
        ordinals = count()
        fields = sorted((*each.fields, *each.retired), key=lambda field: field.number)
        lines += [_field_text(field, ordinals) for field in fields]
        lines.append("}")
    for enum in of.enums():
        # Readers ask for numbers, and symbols may have letters that are none here.
        symbols = " ".join(f"value{place} @{place};" for place in range(len(enum)))
        lines.append(f"enum {enum.__name__} {{ {symbols} }}")
    lines.append(f"struct Block {{ records @0 :List({of.name}); }}")
    return "\n".join(lines)


_TYPES = {
    FieldKind.BOOL: "Bool",
    FieldKind.INT32: "Int32",
    FieldKind.INT64: "Int64",
    FieldKind.FLOAT: "Float32",
    FieldKind.DOUBLE: "Float64",
    FieldKind.TEXT: "Text",
    FieldKind.BYTES: "Data",
    FieldKind.TIMESTAMP: "Int64",
    FieldKind.DECIMAL: "Text",
}
# Pointers can be null, numbers cannot.
_POINTERS = {FieldKind.TEXT, FieldKind.BYTES, FieldKind.DECIMAL, FieldKind.RECORD, FieldKind.LIST}


def _field_text(of: Field, ordinals: Iterator[int]) -> str:
    name, kind = _name(of), _type_text(of)
    if _is_union(of):
        return f"{name} :union {{ none @{next(ordinals)} :Void; value @{next(ordinals)} :{kind}; }}"
    default = f" = {of.default}" if of.default is not None and of.kind is FieldKind.INT32 else ""
    return f"{name} @{next(ordinals)} :{kind}{default};"


def _type_text(of: Field) -> str:
    if of.record is not None:
        return of.record.name
    if of.enum is not None:
        return of.enum.__name__
    return f"List({_type_text(of.element)})" if of.element is not None else _TYPES[of.kind]


def _is_union(of: Field) -> bool:
    """Return whether a value or its absence are members of a union."""
    return of.optional and of.kind not in _POINTERS


def _name(of: Field) -> str:
    return schema_name(of, _own_names())


@cache
def _own_names() -> frozenset[str]:
    """Return the names that messages have for other things than fields."""
    from capnp.lib import capnp

    return frozenset([*dir(capnp._DynamicStructReader), *dir(capnp._DynamicStructBuilder)])  # noqa: SLF001


def _mapping_of(of: RecordType) -> Callable[[Any], dict[str, Any]]:
    """Return the function from an object to the mapping that makes its message."""
    names, values = list(map(_name, of.fields)), of.values
    if of.is_flat:
        return lambda each: dict(zip(names, values(each)))  # noqa: B905 (once a record)
    converters = list(map(_message_value, of.fields))

    def mapping(each: Any) -> dict[str, Any]:
        return {
            name: convert(value)
            for name, convert, value in zip(names, converters, values(each))  # noqa: B905
            # A field that is absent is null.
            if value is not None
        }

    return mapping


def _message_value(of: Field) -> Callable[[Any], Any]:
    convert: Callable[[Any], Any] = _CONVERTERS.get(of.kind, _same)
    if of.record is not None:
        convert = _mapping_of(of.record)
    elif of.element is not None:
        # Of a list, numbers are no values of an enum.
        is_enum = of.element.enum is not None
        element = "value{:d}".format if is_enum else _message_value(of.element)
        convert = _same if element is _same else lambda values: [element(each) for each in values]
    return (lambda value: {"value": convert(value)}) if _is_union(of) else convert


def _same(value: Any) -> Any:
    return value


_CONVERTERS: dict[FieldKind, Callable[[Any], Any]] = {
    FieldKind.ENUM: int,
    FieldKind.TIMESTAMP: microseconds,
    FieldKind.DECIMAL: decimal_text,
}


def _plain(of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
    if of.is_flat and all(_name(each) == each.name for each in of.fields):
        return of.plain
    getters = [_getter(each) for each in of.fields]
    return lambda message: tuple([get(message) for get in getters])


def _getter(of: Field) -> Callable[[Any], Any]:
    name, decode = _name(of), _decoder(of)
    if _is_union(of):

        def union_value(message: Any) -> Any:
            union = getattr(message, name)
            return decode(union.value) if union.which() == "value" else None

        return union_value
    if of.optional:
        return lambda message: decode(getattr(message, name)) if message._has(name) else None  # noqa: SLF001
    return attrgetter(name) if decode is _same else lambda message: decode(getattr(message, name))


def _decoder(of: Field) -> Callable[[Any], Any]:
    """Return the function from a value of a message that is not null to its plain value."""
    if of.record is not None:
        return _plain(of.record)
    if of.enum is not None:
        return attrgetter("raw")
    if of.element is not None:
        decode = _decoder(of.element)
        return list if decode is _same else lambda values: [decode(each) for each in values]
    return _same
