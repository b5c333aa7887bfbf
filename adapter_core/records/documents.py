"""Records as nested dictionaries by the names of their fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from adapter_core.record_type import Field, FieldKind, RecordType, each_value

Converters = Mapping[FieldKind, Callable[[Any], Any]]

_USUAL: Converters = {FieldKind.ENUM: int}

_name: Callable[[Any], str] = attrgetter("name")


def documents(
    objects: Iterable[Any], of: RecordType, convert: Converters | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a new dictionary for each object.

    Parameters
    ----------
    objects : iterable
        Objects of the type's class.
    of : RecordType
        Their type. Null is None.
    convert : mapping, optional
        Functions that values of some kinds become others by. Enums become their numbers by default; all
        other values are the objects' own.
    """
    return map(document_of(of, convert), objects)


def document_of(
    of: RecordType, convert: Converters | None = None, name: Callable[[Field], str] = _name
) -> Callable[[Any], dict[str, Any]]:
    """Return the function from an object to its dictionary, see `documents`.

    Parameters
    ----------
    of, convert
        As `documents` takes them.
    name : callable
        Returns the key of a field.
    """
    names, values = [name(each) for each in of.fields], of.values
    converters = [
        (key, found)
        for key, each in zip(names, of.fields, strict=True)
        if (found := converter(each, convert, name)) is not None
    ]

    def document(each: Any) -> dict[str, Any]:
        return dict(zip(names, values(each)))  # noqa: B905 (once a record)

    if not converters:
        return document

    def with_converted(each: Any) -> dict[str, Any]:
        found = document(each)
        for key, one in converters:
            found[key] = one(found[key])
        return found

    return with_converted


def converter(
    of: Field, convert: Converters | None = None, name: Callable[[Field], str] = _name
) -> Callable[[Any], Any] | None:
    """Return the function from a field's value to its value in a dictionary; None if they are equal."""
    whole = {**_USUAL, **(convert or {})}.get(of.kind)
    one = whole
    if of.record is not None:
        one = document_of(of.record, convert, name)
    elif of.element is not None and (each := each_value(of, converter(of.element, convert, name))):
        one = each if whole is None else lambda values: whole(each(values))
    if one is None or not of.optional:
        return one
    return lambda value: None if value is None else one(value)


def schema_name(of: Field, reserved: Container[str] = ()) -> str:
    """Return the name of a field in a schema that is not in the file.

    Other names than small letters with digits at their end, as users' fields may have them, are not
    possible everywhere, may be names of a message's methods, or may differ too little from each other.
    """
    is_plain = re.fullmatch("[a-z]+[0-9]*", of.name) and of.name not in reserved
    return of.name if is_plain else f"field{of.number}X"
