"""Canonical form of records: a table with a column for each field."""

from __future__ import annotations

import base64
import json
import math
import struct
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

from adapter_core.record_type import Field, FieldKind, RecordType
from format_bench.verification.canonical import FLOATS, NAN, CanonicalTable, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Printer = Callable[[Any], Any]


def of_records(of: RecordType, rows: Iterable[tuple[Any, ...]]) -> CanonicalTable:
    """Return records in canonical form.

    Enums are the positions of their symbols, and a value of a union is its kind and its value, as JSON.

    Parameters
    ----------
    of : RecordType
        Their type.
    rows : iterable of tuple
        Plain values of the records, as `RecordType.plain` returns them.
    """
    found = [_printer(each) for each in of.fields]
    columns = tuple((each.name, kind) for each, (kind, _) in zip(of.fields, found, strict=True))
    printers = [one for _, one in found]
    return CanonicalTable(columns, [_each(printers, row) for row in rows])


def _printer(of: Field) -> tuple[Type, Printer]:
    """Return the canonical type of a field, and the function from its plain values to canonical ones."""
    kind, one = _printer_of_values(of)
    return kind, lambda value: None if value is None else one(value)


def _printer_of_values(of: Field) -> tuple[Type, Printer]:
    if of.record is not None:
        fields = [_printer(each) for each in of.record.fields]
        parts = tuple((name, kind) for name, (kind, _) in zip(of.record.names, fields, strict=True))
        return Type("struct", (), parts), partial(_each, [one for _, one in fields])
    if of.element is not None:
        inner, one = _printer(of.element)
        if of.kind is FieldKind.MAP:
            parts = ("", Type("utf8")), ("", inner)
            return Type("map", (), parts), lambda pairs: [
                [key, one(pairs[key])] for key in sorted(pairs)
            ]
        return Type("list", (), (("", inner),)), lambda values: list(map(one, values))
    if of.kind is FieldKind.DECIMAL:
        return Type("decimal", (str(of.precision), str(of.scale))), str
    if of.kind is FieldKind.UNION:
        return Type("other", ("union",)), lambda value: json.dumps([type(value).__name__, value])
    return _FLAT[of.kind]


def _each(printers: list[Printer], values: tuple[Any, ...]) -> list[Any]:
    return [one(value) for one, value in zip(printers, values, strict=True)]


def _whole(value: Any) -> str:
    return str(index(value))


def _bits(name: str, value: float) -> str:
    return NAN if math.isnan(value) else struct.pack(f">{FLOATS[name]}", value).hex()


_FLAT: dict[FieldKind, tuple[Type, Printer]] = {
    FieldKind.BOOL: (Type("bool"), lambda value: value),
    FieldKind.INT32: (Type("int32"), _whole),
    FieldKind.INT64: (Type("int64"), _whole),
    FieldKind.FLOAT: (Type("float32"), partial(_bits, "float32")),
    FieldKind.DOUBLE: (Type("float64"), partial(_bits, "float64")),
    FieldKind.TEXT: (Type("utf8"), str),
    FieldKind.BYTES: (Type("binary"), lambda value: base64.b64encode(value).decode()),
    FieldKind.TIMESTAMP: (Type("timestamp", ("us", "UTC")), _whole),
    FieldKind.ENUM: (Type("int32"), _whole),
}
