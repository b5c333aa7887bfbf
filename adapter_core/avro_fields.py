"""Fields of Avro for columns of Arrow, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

COLUMN = "column"
"""Attribute of a field that holds the column's name where that is no Avro name."""

_AVRO_NAME = re.compile(r"(?!column_\d+\Z)[A-Za-z_][A-Za-z0-9_]*")
"""https://avro.apache.org/docs/1.12.0/specification/#names, but for those that are given here."""

_UNITS = {"s": "millis", "ms": "millis", "us": "micros", "ns": "nanos"}


def column_name(field: dict[str, Any]) -> str:
    """Return the name of the column that a field was made for."""
    return field.get(COLUMN, field["name"])


def field_of(position: int, field: pa.Field, column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the Avro field of a column: a union with null only where there are nulls."""
    avro = _avro_type(field.type)
    if column.null_count and avro != "null":
        avro = ["null", avro]
    if _AVRO_NAME.fullmatch(field.name):
        return {"name": field.name, "type": avro}
    return {"name": f"column_{position}", "type": avro, COLUMN: field.name}


def _avro_type(arrow: pa.DataType) -> Any:
    """Return the Avro type of an Arrow type; categories are written as their values."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(arrow):
        return _avro_type(arrow.value_type)
    if types.is_timestamp(arrow):
        zone = "" if arrow.tz else "local-"
        return {"type": "long", "logicalType": f"{zone}timestamp-{_UNITS[arrow.unit]}"}
    if types.is_decimal(arrow):
        size = {"precision": arrow.precision, "scale": arrow.scale}
        return {"type": "bytes", "logicalType": "decimal", **size}
    if types.is_integer(arrow):
        fits = arrow.bit_width <= pa.int32().bit_width and arrow != pa.uint32()
        return "int" if fits else "long"
    if types.is_date(arrow):
        return {"type": "int", "logicalType": "date"}
    if types.is_time(arrow):
        return {"type": "long", "logicalType": "time-micros"}
    names = {
        pa.null(): "null",
        pa.bool_(): "boolean",
        pa.float32(): "float",
        pa.float64(): "double",
        pa.string(): "string",
        pa.large_string(): "string",
        pa.binary(): "bytes",
    }
    return names[arrow]


def arrow_type(avro: Any) -> pa.DataType:
    """Return the Arrow type of an Avro type that `field_of` gave, or of a union of it and null."""
    import pyarrow as pa

    if isinstance(avro, list):
        avro = avro[1]
    if not isinstance(avro, dict):
        names = {
            "null": pa.null(),
            "boolean": pa.bool_(),
            "int": pa.int32(),
            "long": pa.int64(),
            "float": pa.float32(),
            "double": pa.float64(),
            "string": pa.large_string(),
            "bytes": pa.binary(),
        }
        return names[avro]
    logical = avro["logicalType"]
    if logical == "decimal":
        return pa.decimal128(avro["precision"], avro["scale"])
    if logical == "date":
        return pa.date32()
    if logical == "time-micros":
        return pa.time64("us")
    unit = {name: unit for unit, name in _UNITS.items()}[logical.rpartition("-")[2]]
    return pa.timestamp(unit, None if logical.startswith("local-") else "UTC")


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as a list of what fastavro writes, without a Python step per value."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_timestamp(column.type):
        # Integers are written as they are, so that no datetime object is made per value.
        unit = "ms" if column.type.unit == "s" else column.type.unit
        column = column.cast(pa.timestamp(unit, column.type.tz)).cast(pa.int64())
    is_text = types.is_large_string(column.type) or types.is_string(column.type)
    if is_text or (column.null_count == 0 and types.is_primitive(column.type)):
        return column.to_numpy(zero_copy_only=False).tolist()
    return column.to_pylist()
