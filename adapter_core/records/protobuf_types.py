"""Messages of Protobuf for record types, made at run time."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from adapter_core.record_type import Field, FieldKind, RecordType

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.descriptor_pb2 import DescriptorProto

_TYPES = {
    FieldKind.INT32: "TYPE_INT32",
    FieldKind.TEXT: "TYPE_STRING",
    FieldKind.ENUM: "TYPE_ENUM",
    FieldKind.RECORD: "TYPE_MESSAGE",
}

BLOCK = "Block"
"""Name of the message with a repeated field `record`."""


@cache
def message_of(of: RecordType) -> Any:
    """Return the class of the messages of a record type."""
    return _pool_class(of, of.name)


@cache
def block_of(of: RecordType) -> Any:
    """Return the class of a message with records of a type in its repeated field `record`."""
    return _pool_class(of, BLOCK)


@cache
def _pool_of(of: RecordType) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(name="records.proto", package="records", syntax="proto3")
    for each in of.types():
        message = file.message_type.add(name=each.name)
        for field in each.fields:
            _add_field(message, field)
            if field.enum is not None:
                enum = file.enum_type.add(name=field.enum.__name__)
                for position, symbol in enumerate(field.symbols):
                    enum.value.add(name=symbol, number=position)
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
    made = message.field.add(
        name=field.name,
        number=field.number,
        type=_TYPES[field.kind],
        label="LABEL_REPEATED" if field.repeated else "LABEL_OPTIONAL",
    )
    if field.record is not None:
        made.type_name = f".records.{field.record.name}"
    elif field.enum is not None:
        made.type_name = f".records.{field.enum.__name__}"
    elif field.optional:
        # Presence of a value that is not a message: a oneof of its own, as protoc makes it.
        made.proto3_optional = True
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")


def plain_of_message(of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a message to its plain values."""
    if of.is_flat:
        return of.plain
    getters = [_getter(each) for each in of.fields]
    return lambda message: tuple([get(message) for get in getters])


def _getter(of: Field) -> Callable[[Any], Any]:
    name = of.name
    if of.record is not None:
        nested = plain_of_message(of.record)
        if of.repeated:
            return lambda message: [nested(each) for each in getattr(message, name)]
        return lambda message: nested(getattr(message, name)) if message.HasField(name) else None
    if of.repeated:
        return lambda message: list(getattr(message, name))
    if of.optional:
        return lambda message: getattr(message, name) if message.HasField(name) else None
    return lambda message: getattr(message, name)
