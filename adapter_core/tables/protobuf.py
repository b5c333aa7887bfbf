"""Tables as messages of Protobuf, with types made at run time: base class of their adapters."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import (
    Batch,
    BatchedReads,
    FilteredReads,
    InvalidSelectionError,
    Kind,
    RowReads,
    Trait,
    whole_file,
)
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import NESTED, kind_of, kinds_of, nested_array
from adapter_core.remote_adapter import AS_BYTES
from adapter_core.tables import row_format, vectors
from adapter_core.tables.rows import EPOCH_KINDS, row_blocks

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        FieldDescriptorProto,
        FileDescriptorProto,
    )


# Protobuf allows names that start with an underscore; as Python's own attributes do.
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# https://protobuf.dev/programming-guides/proto3/#assigning
_RESERVED_NUMBERS = range(19_000, 20_000)

_TYPES = {
    Kind.BOOLEAN: "TYPE_BOOL",
    Kind.NULLABLE_BOOLEAN: "TYPE_BOOL",
    Kind.HALF_FLOAT: "TYPE_FLOAT",
    Kind.TEXT: "TYPE_STRING",
    Kind.CATEGORY: "TYPE_STRING",
    Kind.NULL: "TYPE_STRING",
    Kind.BINARY: "TYPE_BYTES",
}


class ProtobufTable(RowReads, FilteredReads, BatchedReads):
    """Length-delimited messages of Protobuf, of types made from the table.

    The first message is a `google.protobuf.FileDescriptorProto` with the types, and the second a
    `google.protobuf.Struct` with the names of the columns, their dtypes and the number of rows. The rows
    follow, in blocks or one by one. Datetimes and timedeltas are integers in the unit of the dtype.
    """

    local_only = AS_BYTES
    suffix = ".pb"
    modules: ClassVar = {"protobuf": "google.protobuf"}
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar = row_format.REFUSES | dict.fromkeys(
        NESTED - {Kind.VECTOR}, "the messages have scalar fields alone"
    )
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "its message types are made from the columns at run time; a program has classes that protoc "
        "generates from a .proto file"
    )

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        super()._check_inside(name, kind, array)
        if contents := vectors.problem(array):
            self._refuse_column(name, f"{kind} with {contents}")
        if array.null_count:
            self._refuse_column(name, f"{kind} and nulls; a repeated field is empty, and never null")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from google.protobuf import proto, struct_pb2

        schema = schema_of(df)
        names = [field.name for field in row_type(schema).field]
        description = struct_pb2.Struct()
        description.update(row_format.describe(df))
        with whole_file.writing(path, codec, level) as file:
            proto.serialize_length_prefixed(schema, file)
            proto.serialize_length_prefixed(description, file)
            blocks = ([dict(zip(names, row)) for row in rows] for rows in row_blocks(df))  # noqa: B905 (once a row)
            self._write_blocks(schema, blocks, file)

    @abstractmethod
    def _write_blocks(
        self, schema: FileDescriptorProto, blocks: Iterable[list[dict[str, Any]]], file: BinaryIO
    ) -> None:
        """Write the rows, which come in blocks, with their values by the names of the fields."""

    @abstractmethod
    def _row_blocks(self, schema: FileDescriptorProto, file: BinaryIO) -> Iterator[list[Any]]:
        """Yield the messages of rows in blocks, from the position of the file on."""

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with whole_file.reading(path) as file:
            schema, description = _head(file)
            return row_format.table_of_columns(description, self._column_blocks(schema, file))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import numpy as np

        with whole_file.reading(path) as file:
            schema, description = _head(file)
            dtypes = row_format.dtypes_of_numbers(description, columns)
            found = 0
            positions = {name: i for i, name in enumerate(row_format.names_of(description))}
            fields = {name: row_type(schema).field[positions[name]] for name in columns}
            for name, field in fields.items():
                if field.proto3_optional:
                    raise InvalidSelectionError(f"column {name!r} contains nulls")
            getters = {name: attrgetter(field.name) for name, field in fields.items()}
            for rows in self._row_blocks(schema, file):
                found += len(rows)
                yield {
                    name: np.fromiter(map(get, rows), dtypes[name], len(rows))
                    for name, get in getters.items()
                }
        row_format.check_rows(description, found)

    def _column_names(self, path: Path) -> list[str]:
        with whole_file.reading(path) as file:
            return row_format.names_of(_head(file)[1])

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with whole_file.reading(path) as file:
            schema, description = _head(file)
            blocks = self._column_blocks(schema, file)
            yield from row_format.batches_of_columns(description, blocks, batch_rows)

    def _column_blocks(self, schema: FileDescriptorProto, file: BinaryIO) -> Iterator[list[list[Any]]]:
        """Yield the values of all columns, block by block."""
        fields = row_type(schema).field
        for rows in self._row_blocks(schema, file):
            yield [_values(rows, field) for field in fields]


def schema_of(df: pd.DataFrame) -> FileDescriptorProto:
    """Return the description of the messages for a table, shape (rows, columns).

    Fields have the names of their columns; if any of these is not a valid name, all have numbers for
    names. Fields of columns with nulls are `optional`, since other fields of proto3 are never null, and
    fields of vectors are `repeated`.
    """
    from google.protobuf import descriptor_pb2

    prefix = "column_"
    while _has_conflict(prefix, df.columns):
        prefix += "_"
    file = descriptor_pb2.FileDescriptorProto(name="table.proto", package="table", syntax="proto3")
    row = file.message_type.add(name="Row")
    usual = all(map(_FIELD_NAME.fullmatch, df.columns))
    for position, ((name, column), kind) in enumerate(zip(df.items(), kinds_of(df), strict=True)):
        field = row.field.add(
            name=name if usual else f"{prefix}{position}",
            json_name=name,
            number=_number(position),
            type=_type(column, kind),
            label="LABEL_REPEATED" if kind is Kind.VECTOR else "LABEL_OPTIONAL",
        )
        if _has_presence(column, kind):
            field.proto3_optional = True
            field.oneof_index = len(row.oneof_decl)
            # No field has this name, since names of fields do not start with an underscore.
            row.oneof_decl.add(name=f"_{field.name}")
    rows = file.message_type.add(name="Rows")
    rows.field.add(
        name="row", number=1, type="TYPE_MESSAGE", type_name=".table.Row", label="LABEL_REPEATED"
    )
    return file


def _has_conflict(prefix: str, names: Iterable[str]) -> bool:
    """Return True if a column has the name by number of a field before its own."""
    # protobuf refuses such a `json_name`; a later field may have it.
    numbered = set()
    for position, name in enumerate(names):
        if name in numbered:
            return True
        numbered.add(f"{prefix}{position}")
    return False


def message_class(file: FileDescriptorProto, name: str) -> Any:
    """Return the class of the message `Row` or `Rows`."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"table.{name}"))


def row_type(file: FileDescriptorProto) -> DescriptorProto:
    """Return the description of the message `Row`."""
    return file.message_type[0]


def _number(position: int) -> int:
    number = position + 1
    return number if number < _RESERVED_NUMBERS.start else number + len(_RESERVED_NUMBERS)


def _has_presence(column: pd.Series, kind: Kind) -> bool:
    """Return True if a column has nulls; NaN in NumPy's floats is a value."""
    is_float = kind in (Kind.FLOAT, Kind.HALF_FLOAT)
    return not is_float and bool(column.isna().any())


def _type(column: pd.Series, kind: Kind) -> str:
    if kind in _TYPES:
        return _TYPES[kind]
    if kind in EPOCH_KINDS:
        return "TYPE_SINT64"
    if kind is Kind.VECTOR:
        import pandas as pd

        numbers = pd.Series(nested_array(column).flatten().to_numpy())
        return _type(numbers, kind_of(numbers.dtype, numbers))
    bits = max(32, 8 * column.dtype.itemsize)
    if kind in (Kind.FLOAT, Kind.NULLABLE_FLOAT):
        return {32: "TYPE_FLOAT", 64: "TYPE_DOUBLE"}[bits]
    if kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED):
        return f"TYPE_UINT{bits}"
    # int64 is shorter than sint64, except for negative numbers, which take 10 bytes.
    return f"TYPE_SINT{bits}" if (column < 0).any() else f"TYPE_INT{bits}"


def _head(file: BinaryIO) -> tuple[FileDescriptorProto, Any]:
    """Read the first two messages: the types, and the description of the columns."""
    from google.protobuf import descriptor_pb2, json_format, struct_pb2

    schema = _message(descriptor_pb2.FileDescriptorProto, file)
    return schema, json_format.MessageToDict(_message(struct_pb2.Struct, file))


def _message(of_class: Any, file: BinaryIO) -> Any:
    from google.protobuf import proto

    message = proto.parse_length_prefixed(of_class, file)
    if message is None:
        raise ValueError(f"the file ends before a {of_class.DESCRIPTOR.full_name}")
    return message


def _values(rows: list[Any], field: FieldDescriptorProto) -> list[Any]:
    """Return the values of one field; None where it is not set."""
    values = map(attrgetter(field.name), rows)
    if field.label == field.LABEL_REPEATED:
        return list(map(list, values))
    if not field.proto3_optional:
        return list(values)
    is_set = map(type(rows[0]).HasField, rows, repeat(field.name))
    return [value if here else None for value, here in zip(values, is_set, strict=True)]
