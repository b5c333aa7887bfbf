"""Types of records: fields in order, their kinds, and plain values of objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, make_dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from itertools import chain
from operator import attrgetter, index, itemgetter
from typing import Any


class FieldKind(StrEnum):
    """Kind of the values of a field."""

    INT32 = "int32"
    """Whole number from -2**31 to 2**31 - 1."""
    TEXT = "text"
    """Unicode text without lone surrogates."""
    ENUM = "enum"
    """One of a few symbols; the plain value is its position among them."""
    RECORD = "record"
    """Nested record."""


@dataclass(frozen=True)
class Field:
    """Field of a record."""

    name: str
    kind: FieldKind
    number: int
    """Number of the field in formats that identify fields by numbers, e.g. Protobuf's; 1 or more."""
    optional: bool = False
    """Whether the value may be null."""
    repeated: bool = False
    """Whether the value is a list, never null, of values of the kind."""
    enum: type[IntEnum] | None = None
    """Class of the values of an enum, with values from 0."""
    record: RecordType | None = None
    """Type of a nested record."""
    default: Any = None
    """Plain value for records that were written without the field; None if every record has it."""
    earlier_name: str = ""
    """Name of the field in older files, if it was renamed."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the values of an enum, in order."""
        return tuple(each.name for each in self.enum) if self.enum else ()


@dataclass(frozen=True)
class RecordType:
    """A type of records with the class of its objects.

    Parameters
    ----------
    name : str
        Name of the type in schemas.
    fields : tuple of Field
        In order.
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
            object.__setattr__(self, "object_class", self._dataclass())

    def _dataclass(self) -> Any:
        fields: list[Any] = []
        for each in self.fields:
            # A parameter after one with a default needs one, too.
            has_default = each.default is not None or (fields and len(fields[-1]) > 2)  # noqa: PLR2004
            fields.append((each.name, Any, each.default) if has_default else (each.name, Any))
        return make_dataclass(self.name, fields, slots=True)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(each.name for each in self.fields)

    def types(self) -> list[RecordType]:
        """Return this type and all nested ones, each after those that it contains."""
        nested = [each.record.types() for each in self.fields if each.record is not None]
        return [*chain.from_iterable(nested), self]

    @cached_property
    def is_flat(self) -> bool:
        """Whether every field is a required number or text."""
        simple = {FieldKind.INT32, FieldKind.TEXT}
        return all(
            each.kind in simple and not each.optional and not each.repeated for each in self.fields
        )

    def problem(self, each: Any) -> str:
        """Return which value of an object is not of the type of its field; empty if none."""
        for one in self.fields:
            value = getattr(each, one.name)
            if value is None and one.optional:
                continue
            if one.repeated and not isinstance(value, (list, tuple)):
                return f"{one.name} is no list: {value!r:.60}"
            for item in value if one.repeated else (value,):
                if found := _problem(one, item):
                    return f"{one.name}{found}"
        return ""

    @cached_property
    def plain(self) -> Callable[[Any], tuple[Any, ...]]:
        """Function that returns the plain values of an object with attributes, in order of the fields.

        Numbers are integers, enums the positions of their symbols, nested records tuples; null is None.
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

    def _plain_by(self, getter: Callable[..., Callable[[Any], Any]]) -> Callable[[Any], tuple[Any, ...]]:
        get = getter(*self.names)
        converters = [_plain_value(each, getter) for each in self.fields]
        if len(self.names) == 1 and getter in {attrgetter, itemgetter}:
            # Of one name, these return the value and no tuple.
            get_one, get = get, lambda each: (get_one(each),)
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
        made, makers = self.object_class, [_object_value(each) for each in self.fields]
        if not any(makers):
            return lambda values: made(*values)
        return lambda values: made(
            *[value if make is None else make(value) for make, value in zip(makers, values, strict=True)]
        )


def _plain_value(of: Field, getter: Callable[..., Callable[[Any], Any]]) -> Callable[[Any], Any] | None:
    """Return the function from a field's value to its plain value; None if they are equal."""
    if of.enum is not None:
        enum = of.enum
        # Avro has the symbols of an enum for values. A float is no position.
        return _each(of, lambda value: index(enum[value] if isinstance(value, str) else value))
    if of.record is not None:
        return _each(of, of.record._plain_by(getter))  # noqa: SLF001 (its own class)
    return None


def _object_value(of: Field) -> Callable[[Any], Any] | None:
    """Return the function from a field's plain value to an object's; None if they are equal."""
    if of.enum is not None:
        return _each(of, of.enum)
    if of.record is not None:
        return _each(of, of.record.make)
    return None


def _each(of: Field, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion of a field's values for lists and nulls, too."""
    if of.repeated:
        return lambda values: [convert(value) for value in values]
    if of.optional:
        return lambda value: None if value is None else convert(value)
    return convert


def _problem(of: Field, value: Any) -> str:
    """Return why a value is not of the type of its field, to be read after its name; empty if it is."""
    shown = f"{value!a:.60}"
    match of.kind:
        case FieldKind.RECORD if of.record is not None and value is not None:
            inner = of.record.problem(value)
            return f".{inner}" if inner else ""
        case FieldKind.TEXT if isinstance(value, str):
            lone = not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
            return f" has half a character, a lone surrogate: {shown}" if lone else ""
        case FieldKind.ENUM if of.enum is not None and isinstance(value, of.enum):
            return ""
        case FieldKind.INT32 if isinstance(value, int) and not isinstance(value, bool):
            return "" if value in _INT32 else f" needs more than 32 bits: {shown}"
    return f" is not of the type {of.kind}: {shown}"


_INT32 = range(-(2**31), 2**31)
