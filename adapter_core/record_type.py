"""Types of records: fields in order, their kinds, and plain values of objects."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter, index, itemgetter
from typing import Any, Self

MADE_MODULE = "format_bench_records"
"""Module that classes name which are made from a type; there is no such file."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


class FieldKind(StrEnum):
    """Kind of the values of a field."""

    BOOL = "bool"
    INT32 = "int32"
    """Whole number from -2**31 to 2**31 - 1."""
    INT64 = "int64"
    """Whole number from -2**63 to 2**63 - 1."""
    FLOAT = "float"
    """Number that 32 bits of IEEE 754 represent, as Python's float."""
    DOUBLE = "double"
    TEXT = "text"
    """Unicode text without lone surrogates."""
    BYTES = "bytes"
    TIMESTAMP = "timestamp"
    """Aware datetime; the plain value is the number of microseconds since 1970."""
    DECIMAL = "decimal"
    """`decimal.Decimal` with a fixed number of digits; the plain value is its text."""
    ENUM = "enum"
    """One of a few symbols; the plain value is its position among them."""
    RECORD = "record"
    """Nested record."""
    LIST = "list"
    MAP = "map"
    """Dictionary whose keys are text."""
    UNION = "union"
    """Boolean, whole number, float or text, of which the value is one."""


class Shape(StrEnum):
    """Arrangement of lists and nulls, or of maps likewise, that some formats lack."""

    NULL_LIST = "list or null"
    NULLS_WITHIN = "list with nulls"
    NESTED_LIST = "list of lists"


class SpecialFloat(StrEnum):
    """Floats that some formats lack."""

    NAN = "NaN"
    INFINITE = "infinite"
    NEGATIVE_ZERO = "negative zero"

    @classmethod
    def of(cls, value: float) -> Self | None:
        """Return the kind of a float; None for most."""
        if math.isnan(value):
            return cls.NAN
        if math.isinf(value):
            return cls.INFINITE
        return cls.NEGATIVE_ZERO if value == 0 and math.copysign(1, value) < 0 else None


@dataclass(frozen=True)
class Field:
    """Field of a record, or element of a list or map."""

    name: str
    kind: FieldKind
    number: int = 1
    """Number of the field in formats that identify fields by numbers, e.g. Protobuf's; 1 or more."""
    optional: bool = False
    """Whether the value may be null."""
    element: Field | None = None
    """Values of a list or map."""
    branches: tuple[Field, ...] = ()
    """Kinds of a union, each of another class of Python."""
    enum: type[IntEnum] | None = None
    """Class of the values of an enum, with values from 0."""
    record: RecordType | None = None
    """Type of a nested record."""
    precision: int = 0
    """Digits of a decimal, those after the point included."""
    scale: int = 0
    """Digits of a decimal after the point."""
    default: Any = None
    """Plain value for records that were written without the field; None if every record has it."""
    earlier_name: str = ""
    """Name of the field in older files, if it was renamed."""
    key: str = field(default="", compare=False)
    """Key of the field in a user's own file, if that cannot be its name."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the values of an enum, in order."""
        return tuple(each.name for each in self.enum) if self.enum else ()

    @property
    def inner(self) -> Field:
        """The innermost element of a list or map; the field itself if it is neither."""
        return self if self.element is None else self.element.inner

    def features(self, path: str) -> Iterator[tuple[str, FieldKind | Shape]]:
        """Yield the kind and the shapes of the field at a path, and of all that it contains."""
        yield path, self.kind
        if self.record is not None:
            for each in self.record.fields:
                yield from each.features(f"{path}.{each.name}")
        if self.element is not None:
            if self.optional:
                yield path, Shape.NULL_LIST
            if self.element.optional:
                yield path, Shape.NULLS_WITHIN
            if self.element.element is not None:
                yield path, Shape.NESTED_LIST
            yield from self.element.features(f"{path}[]")

    @property
    def example(self) -> Any:
        """The least plain value: null if that is possible, else zero or something empty."""
        if self.optional:
            return None
        if self.record is not None:
            return tuple(each.example for each in self.record.fields)
        if self.branches:
            return self.branches[0].example
        return {
            FieldKind.BOOL: False,
            FieldKind.FLOAT: 0.0,
            FieldKind.DOUBLE: 0.0,
            FieldKind.TEXT: "",
            FieldKind.BYTES: b"",
            FieldKind.DECIMAL: f"{Decimal(0):.{self.scale}f}",
            FieldKind.LIST: [],
            FieldKind.MAP: {},
        }.get(self.kind, 0)


@dataclass(frozen=True)
class RecordType:
    """A type of records with the class of its objects.

    Parameters
    ----------
    name : str
        Name of the type in schemas.
    fields : tuple of Field
        In order, at least one.
    object_class : type, optional
        A dataclass with these fields; by default one with slots is made.
    retired : tuple of Field
        Fields of older versions of the type, for formats whose schemas keep their places.
    """

    name: str
    fields: tuple[Field, ...]
    object_class: Any = field(default=None, compare=False)
    retired: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        if self.object_class is None:
            object.__setattr__(self, "object_class", _class_of(self.name, self.fields))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(each.name for each in self.fields)

    def types(self) -> list[RecordType]:
        """Return this type and all nested ones, each once, and after those that it contains."""
        nested = [each.inner.record.types() for each in self.fields if each.inner.record is not None]
        return list(dict.fromkeys([*chain.from_iterable(nested), self]))

    def enums(self) -> list[type[IntEnum]]:
        """Return the classes of enums of this type and all nested ones, each once."""
        fields = chain.from_iterable(each.fields for each in self.types())
        return list(dict.fromkeys(each.inner.enum for each in fields if each.inner.enum is not None))

    def features(self) -> Iterator[tuple[str, FieldKind | Shape]]:
        """Yield the paths of fields, e.g. `address.city` and `tags[]`, with their kinds and shapes."""
        for each in self.fields:
            yield from each.features(each.name)

    def refused(self, reasons: Mapping[Any, str]) -> str:
        """Return the first field of a kind or shape with a reason, and the reason; empty if none."""
        for path, feature in self.features():
            if reason := reasons.get(feature):
                return f"the field {path} is of the kind {feature}; {reason}"
        return ""

    @cached_property
    def is_flat(self) -> bool:
        """Whether every field is a required number of 32 bits or text."""
        simple = {FieldKind.INT32, FieldKind.TEXT}
        return all(each.kind in simple and not each.optional for each in self.fields)

    @property
    def example(self) -> Any:
        """Object with the least values: zeros, empty texts and lists, nulls where these are possible."""
        return self.make([each.example for each in self.fields])

    def problem(self, each: Any) -> str:
        """Return which value of an object is not of the type of its field; empty if none."""
        for one in self.fields:
            if found := _problem(one, getattr(each, one.name)):
                return f"{one.name}{found}"
        return ""

    @cached_property
    def has_floats(self) -> bool:
        """Whether values may be floats, at any depth."""
        floats = {FieldKind.FLOAT, FieldKind.DOUBLE, FieldKind.UNION}
        return any(kind in floats for _, kind in self.features())

    def floats(self, each: Any) -> Iterator[tuple[str, float]]:
        """Yield the floats of an object at any depth, with the names of the fields that they are in."""
        for one in self.fields:
            for value in _floats(one, getattr(each, one.name)):
                yield one.name, value

    @cached_property
    def values(self) -> Callable[[Any], tuple[Any, ...]]:
        """Function that returns the values of an object's attributes, in order of the fields."""
        return self._tuple_by(attrgetter)

    @cached_property
    def plain(self) -> Callable[[Any], tuple[Any, ...]]:
        """Function that returns the plain values of an object with attributes, in order of the fields.

        These are numbers, booleans, texts and bytes; `FieldKind` describes values of other kinds. Nested
        records are tuples; null is None.
        """
        return self._plain_by(attrgetter)

    @cached_property
    def plain_of_mapping(self) -> Callable[[Any], tuple[Any, ...]]:
        """The same function for mappings of the fields' names."""
        return self._plain_by(itemgetter)

    @cached_property
    def plain_of_sequence(self) -> Callable[[Any], tuple[Any, ...]]:
        """The same function for sequences in order of the fields."""
        return self._plain_by(lambda *_names: tuple)

    def _tuple_by(self, getter: Callable[..., Callable[[Any], Any]]) -> Callable[[Any], Any]:
        get = getter(*self.names)
        if len(self.names) == 1 and getter in {attrgetter, itemgetter}:
            # Of one name, these return the value and no tuple.
            return lambda each: (get(each),)
        return get

    def _plain_by(self, getter: Callable[..., Callable[[Any], Any]]) -> Callable[[Any], tuple[Any, ...]]:
        get = self._tuple_by(getter)
        converters = [plain_value(each, getter) for each in self.fields]
        if not any(converters):
            return get

        def plain(each: Any) -> tuple[Any, ...]:
            values = get(each)
            return tuple(
                [
                    value if convert is None else convert(value)
                    for convert, value in zip(converters, values, strict=True)
                ]
            )

        return plain

    @cached_property
    def make(self) -> Callable[[Sequence[Any]], Any]:
        """Function that returns an object of plain values in order of the fields."""
        made, makers = self.object_class, [object_value(each) for each in self.fields]
        if not any(makers):
            return lambda values: made(*values)
        return lambda values: made(
            *[value if make is None else make(value) for make, value in zip(makers, values, strict=True)]
        )


@cache
def _class_of(name: str, of: tuple[Field, ...]) -> Any:
    """Return a dataclass of fields, the same one for equal types: stores register classes by type."""
    fields: list[Any] = []
    for each in of:
        # A parameter after one with a default needs one, too.
        has_default = each.default is not None or (fields and len(fields[-1]) > 2)  # noqa: PLR2004
        fields.append((each.name, Any, each.default) if has_default else (each.name, Any))
    made = make_dataclass(name, fields, slots=True)
    made.__module__ = MADE_MODULE
    return made


def plain_value(
    of: Field, getter: Callable[..., Callable[[Any], Any]] = attrgetter
) -> Callable[[Any], Any] | None:
    """Return the function from a field's value to its plain value; None if they are equal.

    Parameters
    ----------
    of : Field
        The field.
    getter : callable
        Makes the function from a nested record to its values, by the fields' names.
    """
    convert: Callable[[Any], Any] | None = None
    if of.enum is not None:
        enum = of.enum
        # Avro has the symbols of an enum for values. A float is no position.
        convert = lambda value: index(enum[value] if isinstance(value, str) else value)  # noqa: E731
    elif of.record is not None:
        convert = of.record._plain_by(getter)  # noqa: SLF001 (a class of this module)
    elif of.element is not None:
        convert = each_value(of, plain_value(of.element, getter))
    elif of.kind is FieldKind.TIMESTAMP:
        convert = microseconds
    elif of.kind is FieldKind.DECIMAL:
        convert = decimal_text
    elif of.kind is FieldKind.BYTES:
        # Text formats have base64.
        convert = lambda value: b64decode(value, validate=True) if isinstance(value, str) else value  # noqa: E731
    return _unless_null(of, convert)


def object_value(of: Field) -> Callable[[Any], Any] | None:
    """Return the function from a field's plain value to an object's; None if they are equal."""
    convert: Callable[[Any], Any] | None = None
    if of.enum is not None:
        convert = of.enum
    elif of.record is not None:
        convert = of.record.make
    elif of.element is not None:
        convert = each_value(of, object_value(of.element))
    elif of.kind is FieldKind.TIMESTAMP:
        convert = lambda value: EPOCH + timedelta(microseconds=value)  # noqa: E731 (one of many)
    elif of.kind is FieldKind.DECIMAL:
        convert = Decimal
    return _unless_null(of, convert)


def each_value(of: Field, convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """Return the conversion of a list or map by its elements' conversion."""
    if convert is None:
        return None
    if of.kind is FieldKind.MAP:
        return lambda values: {key: convert(value) for key, value in values.items()}
    return lambda values: [convert(value) for value in values]


def _unless_null(of: Field, convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if convert is None or not of.optional:
        return convert
    return lambda value: None if value is None else convert(value)


def microseconds(value: Any) -> int:
    """Return the microseconds since 1970 of an aware datetime, its ISO text, or their number itself."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return (value - EPOCH) // _MICROSECOND if isinstance(value, datetime) else index(value)


def decimal_text(value: Any) -> str:
    """Return the text of a decimal, all digits in front of and after the point."""
    if isinstance(value, float):
        raise TypeError("a float is no decimal")
    return value if isinstance(value, str) else f"{Decimal(str(value)):f}"


def _problem(of: Field, value: Any) -> str:
    """Return why a value is not of the type of its field, to be read after its name; empty if it is."""
    if value is None and of.optional:
        return ""
    found = _PROBLEMS[of.kind](of, value)
    return f" is not of the type {of.kind}: {_shown(value)}" if found is None else found


def _floats(of: Field, value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif of.record is not None and value is not None:
        yield from (found for _, found in of.record.floats(value))
    elif of.element is not None and value is not None:
        for each in value.values() if of.kind is FieldKind.MAP else value:
            yield from _floats(of.element, each)


def _shown(value: Any) -> str:
    return f"{value!a:.60}"


def _first_problem(of: Field, values: Iterable[Any]) -> str:
    return next(filter(None, (_problem(of, each) for each in values)), "")


# Each returns None for a value of another type.


def _of_class(made: type) -> Callable[[Field, Any], str | None]:
    return lambda _, value: "" if isinstance(value, made) else None


def _record_problem(of: Field, value: Any) -> str | None:
    if of.record is None or not isinstance(value, of.record.object_class):
        return None
    inner = of.record.problem(value)
    return f".{inner}" if inner else ""


def _list_problem(of: Field, value: Any) -> str | None:
    if of.element is None or not isinstance(value, (list, tuple)):
        return f" is no list: {_shown(value)}"
    return _first_problem(of.element, value)


def _map_problem(of: Field, value: Any) -> str | None:
    if of.element is None or not isinstance(value, dict):
        return f" is no map: {_shown(value)}"
    return _first_problem(_KEY, value) or _first_problem(of.element, value.values())


def _whole_problem(of: Field, value: Any) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    bits = 32 if of.kind is FieldKind.INT32 else 64
    return "" if value in _WHOLE[bits] else f" needs more than {bits} bits: {_shown(value)}"


def _float_problem(_: Field, value: Any) -> str | None:
    if not isinstance(value, float):
        return None
    return "" if _is_of_32_bits(value) else f" needs more than 32 bits: {_shown(value)}"


def _text_problem(_: Field, value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    lone = not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
    return f" has half a character, a lone surrogate: {_shown(value)}" if lone else ""


def _timestamp_problem(_: Field, value: Any) -> str | None:
    if not isinstance(value, datetime):
        return None
    return "" if value.tzinfo is not None else f" has no time zone: {_shown(value)}"


def _decimal_problem(of: Field, value: Any) -> str | None:
    if not isinstance(value, Decimal):
        return None
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return f" is no number: {value}"
    if -exponent != of.scale:
        return f" has {max(0, -exponent)} digits after the point instead of {of.scale}: {value!s:.60}"
    if len(digits) > of.precision:
        return f" has more than {of.precision} digits: {value!s:.60}"
    return f" is a negative zero: {value}" if sign and not value else ""


def _union_problem(of: Field, value: Any) -> str | None:
    found = [_PROBLEMS[each.kind](each, value) for each in of.branches]
    return "" if "" in found else next(filter(None, found), None)


def _enum_problem(of: Field, value: Any) -> str | None:
    return "" if of.enum is not None and isinstance(value, of.enum) else None


def _is_of_32_bits(value: float) -> bool:
    try:
        (found,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return False
    return bool(found == value or value != value)  # noqa: PLR0124 (NaN)


_KEY = Field("key", FieldKind.TEXT)
_WHOLE = {bits: range(-(2 ** (bits - 1)), 2 ** (bits - 1)) for bits in (32, 64)}
_PROBLEMS: dict[FieldKind, Callable[[Field, Any], str | None]] = {
    FieldKind.BOOL: _of_class(bool),
    FieldKind.INT32: _whole_problem,
    FieldKind.INT64: _whole_problem,
    FieldKind.FLOAT: _float_problem,
    FieldKind.DOUBLE: _of_class(float),
    FieldKind.TEXT: _text_problem,
    FieldKind.BYTES: _of_class(bytes),
    FieldKind.TIMESTAMP: _timestamp_problem,
    FieldKind.DECIMAL: _decimal_problem,
    FieldKind.ENUM: _enum_problem,
    FieldKind.RECORD: _record_problem,
    FieldKind.LIST: _list_problem,
    FieldKind.MAP: _map_problem,
    FieldKind.UNION: _union_problem,
}
