"""Types of records with a field of each kind and shape, and values at the limits of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any

from adapter_core.record_set import RecordSet
from adapter_core.record_type import Field, FieldKind, RecordType

Level = IntEnum("Level", ["LOW", "HIGH"], start=0)

_POINT = RecordType(
    "Point",
    (Field("x", FieldKind.DOUBLE, 1), Field("label", FieldKind.TEXT, 2, optional=True)),
)
_LAST = datetime(2261, 12, 31, 23, 59, 59, 999_999, UTC)

_VALUES: dict[FieldKind, list[Any]] = {
    FieldKind.BOOL: [True, False],
    FieldKind.INT32: [0, -1, 2**31 - 1, -(2**31)],
    FieldKind.INT64: [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)],
    FieldKind.FLOAT: [0.0, 1.5, 3.4028234663852886e38, 1.401298464324817e-45],
    FieldKind.DOUBLE: [0.0, 1.0, 0.1, 1.7976931348623157e308, 5e-324],
    FieldKind.TEXT: ["", "\0", "\U0001f600", "null", "057"],
    FieldKind.BYTES: [b"", b"\0\xff", bytes(range(256))],
    FieldKind.TIMESTAMP: [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1901, 2, 3, 4, 5, 6, 789_012, UTC),
        datetime(2024, 2, 29, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
        _LAST,
    ],
    FieldKind.DECIMAL: [Decimal("0.00"), Decimal("-1.50"), Decimal("1234567890123456.25")],
    FieldKind.ENUM: list(Level),
    FieldKind.RECORD: [_POINT.make([1.5, None]), _POINT.make([-0.0, ""])],
}


def _field(kind: FieldKind) -> Field:
    found = Field("value", kind, 2)
    if kind is FieldKind.DECIMAL:
        return replace(found, precision=18, scale=2)
    if kind is FieldKind.ENUM:
        return replace(found, enum=Level)
    return replace(found, record=_POINT) if kind is FieldKind.RECORD else found


def _list_of(element: Field, *, kind: FieldKind = FieldKind.LIST, optional: bool = False) -> Field:
    return Field("value", kind, 2, optional=optional, element=replace(element, name="item", number=1))


def _map_of(element: Field) -> Field:
    return _list_of(element, kind=FieldKind.MAP)


def _cases() -> Iterator[tuple[str, Field, list[Any]]]:
    for kind, values in _VALUES.items():
        field = _field(kind)
        yield str(kind), field, values
        yield f"{kind} or null", replace(field, optional=True), [None, *values, None]
        yield f"list of {kind}", _list_of(field), [[], values, values[:1]]
    number, text = _field(FieldKind.DOUBLE), _field(FieldKind.TEXT)
    point = _field(FieldKind.RECORD)
    points = _VALUES[FieldKind.RECORD]
    single = _field(FieldKind.FLOAT)
    yield "negative zero", number, [-0.0, 0.0]
    yield "negative zero of 32 bits", single, [-0.0, 0.0]
    yield "infinity", number, [math.inf, -math.inf]
    yield "infinity or null, of 32 bits", replace(single, optional=True), [math.inf, None]
    yield "list of NaN", _list_of(number), [[math.nan, 1.5]]
    kinds = (FieldKind.BOOL, FieldKind.INT64, FieldKind.DOUBLE, FieldKind.TEXT)
    union = Field("value", FieldKind.UNION, 2, branches=tuple(Field(str(each), each) for each in kinds))
    values = [1, 1.0, True, "1", 0, -0.0, False, "", 2**40, 2.5]
    long = replace(_field(FieldKind.DECIMAL), precision=38)
    yield "decimal of 38 digits", long, [Decimal("0.00"), Decimal(f"-{'9' * 36}.01")]
    yield "union", union, values
    yield "union with a float first", replace(union, branches=union.branches[::-1]), values
    yield "union or null", replace(union, optional=True), [None, *values]
    yield "list of unions", _list_of(union), [[], values]
    yield "list or null", _list_of(number, optional=True), [None, [], [1.5]]
    yield "list with nulls", _list_of(replace(text, optional=True)), [[], [None], ["", None, "a"]]
    yield "list of lists", _list_of(_list_of(number)), [[], [[]], [[1.0, -0.0], [], [2.5]]]
    yield "list of lists of records", _list_of(_list_of(point)), [[], [points, []]]
    yield "map", _map_of(number), [{}, {"": 1.5, "a b": -0.0}, {"\u00e9": 2.0}]
    yield "map of records", _map_of(point), [{}, {"a": points[0], "b": points[1]}]
    yield (
        "map of lists with nulls",
        _map_of(_list_of(replace(number, optional=True))),
        [{"a": [None, 1.0]}],
    )


_KEY = Field("first_key", FieldKind.INT64, 1)

EDGE_CASE_RECORDS: dict[str, RecordSet] = {}
"""Records with a key and a value of a kind, by the words for the kind."""

for _words, _value, _values in _cases():
    _of = RecordType("Case", (_KEY, _value))
    _objects = [_of.object_class(2**40 + row, value) for row, value in enumerate(_values)]
    EDGE_CASE_RECORDS[_words] = RecordSet.of_objects(_of, _objects)
