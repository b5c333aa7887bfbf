"""Records as nested dictionaries by the names of their fields."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from adapter_core.record_type import Field, RecordType


def documents(
    objects: Iterable[Any], of: RecordType, *, symbols: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a new dictionary for each object.

    Parameters
    ----------
    objects : iterable
        Objects of the type's class.
    of : RecordType
        Their type. Null is None.
    symbols : bool
        True for the symbols of enums as values instead of their numbers.
    """
    return map(document_of(of, symbols=symbols), objects)


def document_of(of: RecordType, *, symbols: bool = False) -> Callable[[Any], dict[str, Any]]:
    """Return the function from an object to its dictionary, see `documents`."""
    names, plain = of.names, of.plain
    nested = [
        (each.name, _nested(each, symbols=symbols))
        for each in of.fields
        if each.record is not None or (symbols and each.enum is not None)
    ]

    def document(each: Any) -> dict[str, Any]:
        return dict(zip(names, plain(each)))  # noqa: B905 (once a record)

    if not nested:
        return document

    def with_nested(each: Any) -> dict[str, Any]:
        found = document(each)
        for name, convert in nested:
            found[name] = convert(getattr(each, name))
        return found

    return with_nested


def _nested(of: Field, *, symbols: bool) -> Callable[[Any], Any]:
    convert: Callable[[Any], Any] = attrgetter("name")
    if of.record is not None:
        convert = document_of(of.record, symbols=symbols)
    if of.repeated:
        return lambda values: [convert(each) for each in values]
    return lambda value: None if value is None else convert(value)
