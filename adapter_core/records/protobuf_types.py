"""Messages of Protobuf for record types, made at run time, and the base class of their stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ObjectKind, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.record_type import Field, FieldKind, RecordType, Shape, decimal_text, microseconds
from adapter_core.records.documents import document_of, schema_name
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

_TYPES = {
    FieldKind.BOOL: "TYPE_BOOL",
    FieldKind.INT32: "TYPE_INT32",
    FieldKind.INT64: "TYPE_INT64",
    FieldKind.FLOAT: "TYPE_FLOAT",
    FieldKind.DOUBLE: "TYPE_DOUBLE",
    FieldKind.TEXT: "TYPE_STRING",
    FieldKind.BYTES: "TYPE_BYTES",
    FieldKind.TIMESTAMP: "TYPE_INT64",
    FieldKind.DECIMAL: "TYPE_STRING",
    FieldKind.ENUM: "TYPE_ENUM",
    FieldKind.RECORD: "TYPE_MESSAGE",
}

REFUSES: Mapping[FieldKind | Shape, str] = dict.fromkeys(
    Shape, "a repeated field has values alone, and is never null"
) | {FieldKind.UNION: "messages that are made at run time here have no oneof of several fields"}
"""Kinds and shapes of fields without a field of Protobuf."""

BLOCK = "Block"
"""Name of the message with a repeated field `record`."""


class MessageStream(StreamStore):
    """A store of messages of Protobuf, one after another."""

    modules: ClassVar = {"protobuf": "google.protobuf"}
    kind = ObjectKind.MESSAGE
    lazy = "texts are decoded when they are used, each time anew"
    refuses = REFUSES
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "its classes are made from the record type at run time; a program's come from a .proto "
        "file, by protoc"
    )

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        """Return the function from a message to its plain values."""
        return plain_of_message(of)


@cache
def message_of(of: RecordType) -> Any:
    """Return the class of the messages of a record type."""
    return _pool_class(of, of.name)


@cache
def block_of(of: RecordType) -> Any:
    """Return the class of a message with records of a type in its repeated field `record`."""
    return _pool_class(of, BLOCK)


def mapping_of(of: RecordType) -> Callable[[Any], dict[str, Any]]:
    """Return the function from an object to the mapping that makes its message."""
    convert = {FieldKind.TIMESTAMP: microseconds, FieldKind.DECIMAL: decimal_text}
    return document_of(of, convert, schema_name)


@cache
def _pool_of(of: RecordType) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(name="records.proto", package="records", syntax="proto3")
    for enum in of.enums():
        made = file.enum_type.add(name=enum.__name__)
        for symbol in enum:
            # Symbols share the scope of their enums.
            made.value.add(name=f"{enum.__name__}_{symbol.name}", number=symbol.value)
    for each in of.types():
        message = file.message_type.add(name=each.name)
        for field in each.fields:
            _add_field(message, field)
    block = file.message_type.add(name=BLOCK)
    block.field.add(
        name="record",
        number=1,
        label="LABEL_REPEATED",
        type="TYPE_MESSAGE",
        type_name=f".records.{of.name}",
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _pool_class(of: RecordType, name: str) -> Any:
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_pool_of(of).FindMessageTypeByName(f"records.{name}"))


def _add_field(message: DescriptorProto, field: Field) -> None:
    name = schema_name(field)
    made: FieldDescriptorProto = message.field.add(
        name=name,
        number=field.number,
        label="LABEL_OPTIONAL" if field.element is None else "LABEL_REPEATED",
    )
    if field.kind is FieldKind.MAP:
        # Entries of a map are messages, which are named by its field.
        entry = message.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
        _set_type(entry.field.add(name="value", number=2, label="LABEL_OPTIONAL"), field.inner)
        made.type, made.type_name = "TYPE_MESSAGE", f".records.{message.name}.{entry.name}"
        return
    _set_type(made, field.inner)
    if field.optional and field.record is None:
        # Presence of a value that is not a message: a oneof of its own, as protoc makes it.
        made.proto3_optional = True
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")


def _set_type(made: FieldDescriptorProto, of: Field) -> None:
    made.type = _TYPES[of.kind]
    if of.record is not None:
        made.type_name = f".records.{of.record.name}"
    elif of.enum is not None:
        made.type_name = f".records.{of.enum.__name__}"


def plain_of_message(of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a message to its plain values."""
    if of.is_flat and all(schema_name(each) == each.name for each in of.fields):
        return of.plain
    getters = [_getter(each) for each in of.fields]
    return lambda message: tuple([get(message) for get in getters])


def _getter(of: Field) -> Callable[[Any], Any]:
    name = schema_name(of)
    if of.inner.record is not None:
        nested = plain_of_message(of.inner.record)
        if of.kind is FieldKind.MAP:
            return lambda message: {key: nested(each) for key, each in getattr(message, name).items()}
        if of.element is not None:
            return lambda message: [nested(each) for each in getattr(message, name)]
        return lambda message: nested(getattr(message, name)) if message.HasField(name) else None
    if of.element is not None:
        made = dict if of.kind is FieldKind.MAP else list
        return lambda message: made(getattr(message, name))
    if of.optional:
        return lambda message: getattr(message, name) if message.HasField(name) else None
    return lambda message: getattr(message, name)
