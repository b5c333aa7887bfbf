"""What a spec calls the types of Arrow columns, and plain numbers or bytes for their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


_TEXT = {"dtype": "str"}
_BYTES = {"dtype": "bytes"}

_KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
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
"""By the functions of `pyarrow.types` that tell the types."""


def kind_of(kind: pa.DataType) -> dict[str, Any] | None:
    """Return `dtype`, `unit`, `zone` and `decimals` of a type; None if no spec has it.

    Categories of anything but text are what they are categories of. A column of nothing but nulls,
    which has no type, is of text.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        inside = kind_of(kind.value_type)
        return {"dtype": "category"} if inside == _TEXT else inside
    return next(
        (facts(kind) for is_one, facts in _KINDS.items() if getattr(pa.types, is_one)(kind)), None
    )


def plain(column: pa.Array) -> pa.Array:
    """Return a flat column as booleans, whole numbers, floats or large_binary, in their order."""
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
        return pc.min_element_wise(column, pa.scalar(2**63 - 1, kind), skip_nulls=False).cast(pa.int64())
    if is_a.is_float16(kind):
        return column.cast(pa.float32())
    if is_a.is_decimal(kind):
        return column.cast(pa.float64())
    if is_a.is_boolean(kind) or is_a.is_integer(kind) or is_a.is_floating(kind):
        return column
    return column.cast(pa.large_binary())
