"""Protobuf through Google's protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import protobuf_schema, row_tables
from adapter_core.data_format import DataFormat
from adapter_core.row_blocks import row_blocks
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd
    from google.protobuf.descriptor_pb2 import FileDescriptorProto


class Adapter(DataFormat):
    """Length-delimited messages of Protobuf, written and read by `google.protobuf.proto`.

    The first message is a `google.protobuf.FileDescriptorProto` of types made from the table, see
    `adapter_core.protobuf_schema`, and the second a `google.protobuf.Struct` that names the columns,
    their dtypes and the number of rows. Each of the others is a `Rows` of up to 500 rows: protobuf cuts
    a stream into its messages in Python, and what a message repeats in C.

    Datetimes and timedeltas are integers in the unit of the dtype.
    """

    label = "Protobuf"
    suffix = ".pb"
    requires = ("pandas", "pyarrow>=15", "protobuf>=6")
    modules: ClassVar = {"protobuf": "google.protobuf"}
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar = row_tables.REFUSED

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from google.protobuf import proto, struct_pb2

        schema = protobuf_schema.schema_of(df)
        rows_class = protobuf_schema.rows_class(schema)
        names = [field.name for field in protobuf_schema.row_type(schema).field]
        note = struct_pb2.Struct()
        note.update(row_tables.note_of(df))
        with path.open("wb") as file:
            proto.serialize_length_prefixed(schema, file)
            proto.serialize_length_prefixed(note, file)
            for rows in row_blocks(df):
                fields = [dict(zip(names, row)) for row in rows]  # noqa: B905 (once a row)
                proto.serialize_length_prefixed(rows_class(row=fields), file)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        from google.protobuf import descriptor_pb2, json_format, struct_pb2

        with path.open("rb") as file:
            schema = _message(descriptor_pb2.FileDescriptorProto, file)
            note = json_format.MessageToDict(_message(struct_pb2.Struct, file))
            return row_tables.table_of_columns(note, _column_blocks(schema, file))


def _message(message_class: Any, file: BinaryIO) -> Any:
    from google.protobuf import proto

    message = proto.parse_length_prefixed(message_class, file)
    if message is None:
        raise ValueError(f"the file ends before a {message_class.DESCRIPTOR.full_name}")
    return message


def _column_blocks(schema: FileDescriptorProto, file: BinaryIO) -> Iterator[list[list[Any]]]:
    """Yield the values of all columns, block by block."""
    from google.protobuf import proto

    rows_class = protobuf_schema.rows_class(schema)
    fields = [(each.name, each.proto3_optional) for each in protobuf_schema.row_type(schema).field]
    while message := proto.parse_length_prefixed(rows_class, file):
        rows = list(message.row)
        yield [_values(rows, name, has_presence=optional) for name, optional in fields]


def _values(rows: list[Any], name: str, *, has_presence: bool) -> list[Any]:
    """Return the values of one field; None where it is not set."""
    values = map(attrgetter(name), rows)
    if not has_presence:
        return list(values)
    is_set = map(type(rows[0]).HasField, rows, repeat(name))
    return [value if here else None for value, here in zip(values, is_set, strict=True)]
