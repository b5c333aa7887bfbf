"""Conversion between the data types of a specification and Arrow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.spec.spec import ColumnSpec


_TEXT = {"dtype": "str"}
_BYTES = {"dtype": "bytes"}

# Properties of a column by the functions of pyarrow.types that recognise its type.
_PROPERTIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "is_boolean": lambda _: {"dtype": "bool"},
    "is_integer": lambda kind: {"dtype": str(kind)},
    "is_floating": lambda kind: {"dtype": f"float{kind.bit_width}"},
    "is_decimal": lambda kind: {"dtype": "decimal", "decimals": max(0, kind.scale)},
    "is_string": lambda _: _TEXT,
    "is_large_string": lambda _: _TEXT,
    "is_string_view": lambda _: _TEXT,
    "is_null": lambda _: _TEXT,
    "is_binary": lambda _: _BYTES,
    "is_large_binary": lambda _: _BYTES,
    "is_fixed_size_binary": lambda _: _BYTES,
    "is_date": lambda _: {"dtype": "date"},
    "is_timestamp": lambda kind: {"dtype": "datetime", "unit": kind.unit, "zone": kind.tz or ""},
    "is_time": lambda kind: {"dtype": "time", "unit": kind.unit},
    "is_duration": lambda kind: {"dtype": "timedelta", "unit": kind.unit},
}


def arrow_type(spec: ColumnSpec) -> pa.DataType:
    """Return the Arrow type of a flat column; categories have their texts' type."""
    import pyarrow as pa

    match spec.dtype:
        case "bool":
            return pa.bool_()
        case "str" | "category":
            return pa.large_string()
        case "bytes":
            return pa.large_binary()
        case "date":
            return pa.date32()
        case "datetime":
            return pa.timestamp(spec.unit, spec.zone or None)
        case "time":
            return pa.time32(spec.unit) if spec.unit in ("s", "ms") else pa.time64(spec.unit)
        case "timedelta":
            return pa.duration(spec.unit)
        case "decimal":
            return pa.decimal128(38, spec.decimals or 0)
    return pa.from_numpy_dtype(spec.dtype)


def type_properties(kind: pa.DataType) -> dict[str, Any] | None:
    """Return `dtype`, `unit`, `zone` and `decimals` of an Arrow type; None if no dtype represents it.

    Categories of anything but text have the properties of their values. A column of nulls alone, which
    has no type, counts as text.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        inside = type_properties(kind.value_type)
        return {"dtype": "category"} if inside == _TEXT else inside
    matching = (of_kind(kind) for name, of_kind in _PROPERTIES.items() if getattr(pa.types, name)(kind))
    return next(matching, None)


def plain(column: pa.Array) -> pa.Array:
    """Return a flat column as booleans, whole numbers, floats or large_binary, in the same order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_a, kind = pa.types, column.type
    if is_a.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if is_a.is_date64(kind):
        return plain(column.cast(pa.date32()))
    if is_a.is_temporal(kind):
        return column.view(f"int{kind.bit_width}")
    if is_a.is_uint64(kind):
        # All statistics are computed as int64; numbers beyond it keep their order up to ties.
        return pc.min_element_wise(column, pa.scalar(2**63 - 1, kind), skip_nulls=False).cast(pa.int64())
    if is_a.is_float16(kind):
        # Arrow has no sort for float16 (pyarrow 26: "no kernel matching input types").
        return column.cast(pa.float32())
    if is_a.is_decimal(kind):
        return column.cast(pa.float64())
    if is_a.is_boolean(kind) or is_a.is_integer(kind) or is_a.is_floating(kind):
        return column
    return column.cast(pa.large_binary())
