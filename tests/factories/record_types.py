"""Hypothesis strategies of types of records, of their objects, and of lines of JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from adapter_core import Field, FieldKind, RecordType
from adapter_core.record_schema import class_name, keyed

SCALARS = (
    *(FieldKind.BOOL, FieldKind.INT32, FieldKind.INT64, FieldKind.FLOAT, FieldKind.DOUBLE),
    *(FieldKind.TEXT, FieldKind.BYTES, FieldKind.TIMESTAMP, FieldKind.DECIMAL, FieldKind.UNION),
)
BRANCHES = (FieldKind.BOOL, FieldKind.INT64, FieldKind.DOUBLE, FieldKind.TEXT)

NAMES = st.text("abcdefXYZ_09", min_size=1, max_size=5)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)


@st.composite
def record_types(draw: st.DrawFn) -> RecordType:
    """Draw a type of up to 4 fields, with nested records up to 3 levels deep."""
    return _record(draw, 2, taken := set(), class_name("Record", taken))


def _record(draw: st.DrawFn, depth: int, taken: set[str], name: str) -> RecordType:
    taken.add(name)
    fields: list[Field] = []
    for key in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        fields.append(keyed(_field(draw, depth, taken), key, len(fields) + 1, fields))
    # The names alone, as a file that was saved has them.
    return RecordType(name, tuple(replace(each, key="") for each in fields))


def _field(draw: st.DrawFn, depth: int, taken: set[str]) -> Field:
    optional = draw(st.booleans())
    containers = (FieldKind.LIST, FieldKind.MAP, FieldKind.RECORD) if depth else ()
    kind = draw(st.sampled_from((*SCALARS, *containers)))
    if kind is FieldKind.RECORD:
        record = _record(draw, depth - 1, taken, class_name("Inner", taken))
        return Field("", kind, optional=optional, record=record)
    if kind in containers:
        element = keyed(_field(draw, depth - 1, taken), "item", 1, ())
        return Field("", kind, optional=optional, element=element)
    if kind is FieldKind.UNION:
        chosen = draw(st.lists(st.sampled_from(BRANCHES), min_size=2, unique=True))
        branches = tuple(Field(str(each), each) for each in chosen)
        return Field("", kind, optional=optional, branches=branches)
    if kind is FieldKind.DECIMAL:
        scale = draw(st.integers(0, 6))
        precision = draw(st.integers(max(1, scale), 12))
        return Field("", kind, optional=optional, precision=precision, scale=scale)
    return Field("", kind, optional=optional)


def objects_of(of: RecordType) -> st.SearchStrategy[list[Any]]:
    """Return a strategy of a few objects of a type."""
    return st.lists(_objects(of), min_size=1, max_size=4)


def _objects(of: RecordType) -> st.SearchStrategy[Any]:
    return st.builds(of.object_class, *map(_values, of.fields))


def _values(of: Field) -> st.SearchStrategy[Any]:
    found: st.SearchStrategy[Any]
    if of.record is not None:
        found = _objects(of.record)
    elif of.element is not None:
        element = _values(of.element)
        is_map = of.kind is FieldKind.MAP
        found = st.dictionaries(TEXTS, element, max_size=3) if is_map else st.lists(element, max_size=3)
    elif of.branches:
        found = st.one_of(*map(_values, of.branches))
    elif of.kind is FieldKind.DECIMAL:
        most = 10**of.precision - 1
        # From its text: arithmetic would round to the digits of the context.
        found = st.integers(-most, most).map(lambda value: Decimal(f"{value}e{-of.scale}"))
    else:
        found = _SCALARS[of.kind]
    return st.none() | found if of.optional else found


_SCALARS: dict[FieldKind, st.SearchStrategy[Any]] = {
    FieldKind.BOOL: st.booleans(),
    FieldKind.INT32: st.integers(-(2**31), 2**31 - 1),
    FieldKind.INT64: st.integers(-(2**63), 2**63 - 1),
    FieldKind.FLOAT: st.floats(width=32, allow_nan=False, allow_infinity=False),
    FieldKind.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
    FieldKind.TEXT: TEXTS,
    FieldKind.BYTES: st.binary(max_size=6),
    FieldKind.TIMESTAMP: st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001
        lambda value: value.replace(tzinfo=UTC)
    ),
}


@st.composite
def lines_of(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw objects whose values at each place are of one type, null or missing, a few of them deep."""
    shape = draw(_shapes(2, is_object=True))
    return draw(st.lists(_json(shape, is_top=True), min_size=1, max_size=5))


def _shapes(depth: int, *, is_object: bool = False) -> st.SearchStrategy[Any]:
    """Return a strategy of shapes: a class, a list with the shape of elements, or a mapping of keys."""
    keys = st.text("abcdef", min_size=1, max_size=3)
    inner = _shapes(depth - 1) if depth else st.sampled_from((bool, int, float, str))
    objects = st.dictionaries(keys, inner, min_size=1, max_size=4)
    if is_object or not depth:
        return objects if is_object else inner
    return inner | objects | inner.map(lambda shape: [shape])


def _json(shape: Any, *, is_top: bool = False) -> st.SearchStrategy[Any]:
    if isinstance(shape, dict):
        required = {key: _json(each) for key, each in list(shape.items())[:1]}
        found = st.fixed_dictionaries(
            required, optional={key: _json(each) for key, each in list(shape.items())[1:]}
        )
        return found if is_top else st.none() | found
    if isinstance(shape, list):
        return st.none() | st.lists(_json(shape[0]), max_size=3)
    values = {
        bool: st.booleans(),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: TEXTS,
    }
    return st.none() | values[shape]
