"""Message types of Protobuf for the rows of a table, made at run time.

syntax = "proto3";
package table;

message Row {
  int64 whole = 1;
  optional string word = 2;  // a column with nulls
}

message Rows {
  repeated Row row = 1;
}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind, kinds_of
from adapter_core.row_blocks import EPOCH_KINDS

if TYPE_CHECKING:
    import pandas as pd
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""Names may begin with an underscore, too, but those of Python's own attributes do."""

_RESERVED_NUMBERS = range(19_000, 20_000)
"""https://protobuf.dev/programming-guides/proto3/#assigning"""

_TYPES = {
    Kind.BOOLEAN: "TYPE_BOOL",
    Kind.NULLABLE_BOOLEAN: "TYPE_BOOL",
    Kind.HALF_FLOAT: "TYPE_FLOAT",
    Kind.TEXT: "TYPE_STRING",
    Kind.CATEGORY: "TYPE_STRING",
    Kind.NULL: "TYPE_STRING",
    Kind.BINARY: "TYPE_BYTES",
}


def schema_of(df: pd.DataFrame) -> FileDescriptorProto:
    """Return the description of the messages for a table, shape (rows, columns).

    Fields have the names of their columns, or are all called by number if a column has a name that no
    field may have. Those of columns with nulls are `optional`, without which proto3 has no nulls.
    """
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="table.proto", package="table", syntax="proto3")
    row = file.message_type.add(name="Row")
    usual = all(map(_FIELD_NAME.fullmatch, df.columns))
    for position, ((name, column), kind) in enumerate(zip(df.items(), kinds_of(df), strict=True)):
        field = row.field.add(
            name=name if usual else f"column_{position}",
            json_name=name,
            number=_number(position),
            type=_type(column, kind),
            label="LABEL_OPTIONAL",
        )
        if _has_presence(column, kind):
            field.proto3_optional = True
            field.oneof_index = len(row.oneof_decl)
            # The names of fields begin with no underscore, so none of them is the same.
            row.oneof_decl.add(name=f"_{field.name}")
    rows = file.message_type.add(name="Rows")
    rows.field.add(
        name="row", number=1, type="TYPE_MESSAGE", type_name=".table.Row", label="LABEL_REPEATED"
    )
    return file


def rows_class(file: FileDescriptorProto) -> Any:
    """Return the class of the message that holds rows."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("table.Rows"))


def row_type(file: FileDescriptorProto) -> DescriptorProto:
    """Return the description of a row."""
    return file.message_type[0]


def _number(position: int) -> int:
    number = position + 1
    return number if number < _RESERVED_NUMBERS.start else number + len(_RESERVED_NUMBERS)


def _has_presence(column: pd.Series, kind: Kind) -> bool:
    """Tell whether a column holds nulls; NaN in NumPy's floats are values like others."""
    is_float = kind in (Kind.FLOAT, Kind.HALF_FLOAT)
    return not is_float and bool(column.isna().any())


def _type(column: pd.Series, kind: Kind) -> str:
    if kind in _TYPES:
        return _TYPES[kind]
    if kind in EPOCH_KINDS:
        return "TYPE_SINT64"
    bits = max(32, 8 * column.dtype.itemsize)
    if kind in (Kind.FLOAT, Kind.NULLABLE_FLOAT):
        return {32: "TYPE_FLOAT", 64: "TYPE_DOUBLE"}[bits]
    if kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED):
        return f"TYPE_UINT{bits}"
    # A negative number takes 10 bytes in an int64, whose numbers are otherwise the shorter ones.
    return f"TYPE_SINT{bits}" if (column < 0).any() else f"TYPE_INT{bits}"
