"""Types of records as Avro schemas, and names of fields and classes that every format can have.

https://avro.apache.org/docs/1.12.0/specification/
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from enum import IntEnum
from typing import Any

from adapter_core.record_type import MADE_MODULE, Field, FieldKind, RecordType

MOST_FIELDS, MOST_DEPTH = 1_000, 32
"""Fields of a type with all that are nested, and levels of nesting: more are refused."""

MOST_LETTERS = 60
"""Letters of a name, without a number that makes it distinct."""

_PRIMITIVE = {
    "boolean": FieldKind.BOOL,
    "int": FieldKind.INT32,
    "long": FieldKind.INT64,
    "float": FieldKind.FLOAT,
    "double": FieldKind.DOUBLE,
    "string": FieldKind.TEXT,
    "bytes": FieldKind.BYTES,
}
_AVRO = {kind: name for name, kind in _PRIMITIVE.items()}
_TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
_TIMES = {("long", "timestamp-millis"), ("long", "timestamp-micros")}

# Kinds of a union, by which class of Python a value of each has.
_CLASSES = {
    FieldKind.BOOL: bool,
    FieldKind.INT32: int,
    FieldKind.INT64: int,
    FieldKind.FLOAT: float,
    FieldKind.DOUBLE: float,
    FieldKind.TEXT: str,
}

# Digits of decimal128, the most that Arrow and databases usually take.
_MOST_DIGITS = 38

# Names that stores give to types of their own.
_RESERVED = ("Block",)


def avro_of(of: RecordType) -> dict[str, Any]:
    """Return the Avro schema of a type, as `json` writes it."""
    return _record(of, {of.name})


def _named(name: str, define: Callable[[], Any], known: set[str]) -> Any:
    """Return the definition of a type where it is met first, and its name after that."""
    if name in known:
        return name
    known.add(name)
    return define()


def _record(of: RecordType, known: set[str]) -> dict[str, Any]:
    return {"type": "record", "name": of.name, "fields": [_field(each, known) for each in of.fields]}


def _field(of: Field, known: set[str]) -> dict[str, Any]:
    found = {"name": of.name, "type": _type(of, known)}
    if of.optional or of.default is not None:
        found["default"] = of.default
    if of.earlier_name:
        found["aliases"] = [of.earlier_name]
    return found


def _type(of: Field, known: set[str]) -> Any:
    avro: Any = _AVRO.get(of.kind)
    if of.branches:
        return [*(["null"] if of.optional else []), *(_type(each, known) for each in of.branches)]
    if of.record is not None:
        record = of.record
        avro = _named(record.name, lambda: _record(record, known), known)
    elif of.enum is not None:
        name = of.enum.__name__
        avro = _named(name, lambda: {"type": "enum", "name": name, "symbols": list(of.symbols)}, known)
    elif of.element is not None:
        element = _type(of.element, known)
        is_map = of.kind is FieldKind.MAP
        avro = {"type": "map", "values": element} if is_map else {"type": "array", "items": element}
    elif of.kind is FieldKind.TIMESTAMP:
        avro = dict(_TIMESTAMP)
    elif of.kind is FieldKind.DECIMAL:
        digits = {"precision": of.precision, "scale": of.scale}
        avro = {"type": "bytes", "logicalType": "decimal", **digits}
    return ["null", avro] if of.optional else avro


def type_of(schema: Any) -> RecordType:
    """Return the type that an Avro schema of a record describes.

    Parameters
    ----------
    schema : dict
        The schema, as `json` reads it.

    Raises
    ------
    ValueError
        If it is none, or has something that records here do not; the message names the field.
    """
    try:
        return _Reader().root(schema)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


class _Reader:
    """Reader of one schema, which knows the types that have been defined so far."""

    def __init__(self) -> None:
        self._named: dict[str, Field] = {}
        self._open: set[str] = set()
        self._classes = set(_RESERVED)
        self._fields = 0

    def root(self, schema: Any) -> RecordType:
        if not isinstance(schema, Mapping) or schema.get("type") != "record":
            raise ValueError('it is no Avro schema of a record: {"type": "record", "name": ..., ...}')
        found = self.field("the record", schema, 0)
        if found.record is None:
            raise AssertionError("a record has no type")
        return found.record

    def field(self, path: str, schema: Any, depth: int) -> Field:
        """Return the field of a schema, without its name."""
        if depth > MOST_DEPTH:
            raise ValueError(f"{path}: more than {MOST_DEPTH} levels are nested")
        match schema:
            case list():
                return self.union(path, schema, depth)
            case str():
                return self.known(path, schema)
            case {"type": str(name)}:
                return self.constructed(path, name, schema, depth)
            case {"type": inner}:
                return self.field(path, inner, depth + 1)
        raise ValueError(f"{path}: {schema!r:.60} is no type of Avro")

    def known(self, path: str, name: str) -> Field:
        """Return the field of a primitive type, or of one that has been defined."""
        if name in _PRIMITIVE:
            return Field("", _PRIMITIVE[name])
        if name in self._open:
            raise ValueError(f"{path}: {name} contains itself")
        if name not in self._named:
            raise ValueError(f"{path}: there is no type {name!r:.60}")
        return self._named[name]

    def constructed(self, path: str, name: str, schema: Mapping[str, Any], depth: int) -> Field:
        """Return the field of a schema with attributes."""
        if name == "record":
            found = Field("", FieldKind.RECORD, record=self.record(path, schema, depth))
        elif name == "enum":
            found = Field("", FieldKind.ENUM, enum=self.enum(path, schema))
        elif name == "array":
            return Field("", FieldKind.LIST, element=self.element(path, schema.get("items"), depth))
        elif name == "map":
            return Field("", FieldKind.MAP, element=self.element(path, schema.get("values"), depth))
        elif schema.get("logicalType") and name in {*_PRIMITIVE, "fixed"}:
            found = self.logical(path, schema)
        elif name == "fixed":
            found = Field("", FieldKind.BYTES)
        else:
            return self.known(path, name)
        return self.defined(schema, found)

    def element(self, path: str, schema: Any, depth: int) -> Field:
        return _renamed(self.field(f"{path}[]", schema, depth + 1), "item")

    def union(self, path: str, branches: list[Any], depth: int) -> Field:
        others = [each for each in branches if each != "null"]
        optional = len(others) < len(branches)
        if len(others) == 1 and not isinstance(others[0], list):
            return _renamed(self.field(path, others[0], depth + 1), "", optional=optional)
        kinds = [_PRIMITIVE.get(each) if isinstance(each, str) else None for each in others]
        classes = [_CLASSES[each] for each in kinds if each in _CLASSES]
        if len(set(classes)) != len(others) or not others:
            words = " and ".join(_word(each) for each in others) or "nothing"
            advice = (
                "one here is of a boolean, a whole number, a float and a text, or of one type and null"
            )
            raise ValueError(f"{path}: it is a union of {words}; {advice}")
        made = tuple(Field(str(each), each) for each in kinds if each is not None)
        return Field("", FieldKind.UNION, optional=optional, branches=made)

    def logical(self, path: str, schema: Mapping[str, Any]) -> Field:
        kind, logical = schema["type"], schema["logicalType"]
        if (kind, logical) in _TIMES:
            return Field("", FieldKind.TIMESTAMP)
        if logical == "decimal" and kind in {"bytes", "fixed"}:
            precision, scale = schema.get("precision"), schema.get("scale", 0)
            if type(precision) is not int or type(scale) is not int:
                raise ValueError(f"{path}: precision and scale of a decimal are whole numbers")
            if not 0 <= scale <= precision <= _MOST_DIGITS or not precision:
                raise ValueError(f"{path}: a decimal has up to {_MOST_DIGITS} digits, not {precision}")
            return Field("", FieldKind.DECIMAL, precision=precision, scale=scale)
        if logical == "uuid" and kind == "string":
            return Field("", FieldKind.TEXT)
        advice = "declare it as a string, or as a timestamp"
        raise ValueError(f"{path}: records here have no {logical!s:.60} of {kind}; {advice}")

    def record(self, path: str, schema: Mapping[str, Any], depth: int) -> RecordType:
        name, given = _name(path, schema), schema.get("fields")
        if not isinstance(given, list) or not given:
            raise ValueError(f"{path}: the record {name} has no fields")
        self._open.add(name)
        made = class_name(name, self._classes)
        self._classes.add(made)
        fields: list[Field] = []
        for number, each in enumerate(given, 1):
            if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
                raise ValueError(f"{path}: a field of {name} has no name")  # noqa: TRY004 (of a file)
            self._fields += 1
            if self._fields > MOST_FIELDS:
                raise ValueError(f"it has more than {MOST_FIELDS:,} fields")
            key = each["name"]
            if key in {one.key or one.name for one in fields}:
                raise ValueError(f"{path}: the record {name} has two fields {key!r:.60}")
            inner = f"{path}.{key:.60}" if depth else f"{key:.60}"
            found = self.field(inner, each.get("type"), depth + 1)
            fields.append(keyed(found, key, number, fields))
        self._open.discard(name)
        return RecordType(made, tuple(fields))

    def enum(self, path: str, schema: Mapping[str, Any]) -> type[IntEnum]:
        name, symbols = _name(path, schema), schema.get("symbols")
        if not isinstance(symbols, list) or not symbols or not all(map(_is_symbol, symbols)):
            raise ValueError(f"{path}: symbols of the enum {name} are names of letters and digits")
        made = class_name(name, self._classes)
        self._classes.add(made)
        # As a function of the library: to type checkers, names of enums are literals.
        make: Any = IntEnum
        try:
            found: type[IntEnum] = make(made, {each: place for place, each in enumerate(symbols)})
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: the enum {name} cannot have these symbols: {error}") from error
        found.__module__ = MADE_MODULE
        return found

    def defined(self, schema: Mapping[str, Any], found: Field) -> Field:
        """Return the field of a named type, which later schemas refer to."""
        name = schema.get("name")
        if isinstance(name, str):
            space = schema.get("namespace")
            self._named |= {name: found, name.rpartition(".")[2]: found}
            if isinstance(space, str):
                self._named[f"{space}.{name}"] = found
        return found


def _is_symbol(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_]*", value) is not None


def _name(path: str, schema: Mapping[str, Any]) -> str:
    name = schema.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{path}: a type has no name")
    return name


def _word(schema: Any) -> str:
    """Return the name of a type for messages."""
    found = schema.get("type", "?") if isinstance(schema, Mapping) else schema
    return f"{found!s:.60}"


def _renamed(of: Field, name: str, *, optional: bool | None = None) -> Field:
    return replace(of, name=name, optional=of.optional if optional is None else optional)


def keyed(of: Field, key: str, number: int, before: Collection[Field]) -> Field:
    """Return a field under the name that follows from its key, after some others of its record."""
    name = attribute_name(key, {each.name for each in before})
    return replace(of, name=name, number=number, key="" if name == key else key)


def attribute_name(key: str, taken: Collection[str]) -> str:
    """Return a name of ASCII letters, digits and _: first_name of "first name", class_ of "class".

    Parameters
    ----------
    key : str
        Any text.
    taken : collection of str
        Names that it must differ from, by more than the case of letters.
    """
    name = key
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
        name = re.sub("[^A-Za-z0-9]+", "_", plain).strip("_")
        name = name if name[:1].isalpha() else f"field_{name}".rstrip("_")
    name = name[:MOST_LETTERS]
    if keyword.iskeyword(name):
        name += "_"
    lower, number, found = {each.lower() for each in taken}, 2, name
    while found.lower() in lower:
        found, number = f"{name}_{number}", number + 1
    return found


def class_name(text: str, taken: Collection[str]) -> str:
    """Return a name of a class that differs from others: HomeAddress of "home_address"."""
    words = re.findall("[A-Za-z0-9]+", text.rpartition(".")[2])
    name = "".join(each[:1].upper() + each[1:] for each in words)[:MOST_LETTERS]
    name = name if name[:1].isalpha() and not keyword.iskeyword(name) else f"Record{name}"
    lower, number, found = {each.lower() for each in taken}, 2, name
    while found.lower() in lower:
        found, number = f"{name}{number}", number + 1
    return found
