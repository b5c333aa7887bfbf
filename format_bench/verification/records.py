"""Comparison of records read back with those saved."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

from adapter_core import RecordSet, RecordType
from adapter_core.record_digest import digest
from adapter_core.record_type import Field
from format_bench.verification import Diff

_NOT_A_RECORD = (struct.error, AttributeError, TypeError, ValueError, LookupError)
_MISSING = object()


def verify_records(
    records: RecordSet, found: Iterable[Any], plain: Callable[[Any], tuple[Any, ...]]
) -> Diff:
    """Compare records read back with those saved, by the digest of all fields.

    If the digests differ, the saved records are made again for the first difference.

    Parameters
    ----------
    records : RecordSet
        The saved records.
    found : iterable
        Objects read back; iterated over twice.
    plain : callable
        Returns the plain values of an object read.
    """
    try:
        same = digest(map(plain, found), records.of) == records.digest
    except _NOT_A_RECORD:
        same = False
    if not same:
        return Diff(errors=(_first_difference(records, found, plain),))
    first = next(iter(found), None)
    losses = () if first is None else tuple(_losses(first, records.of))
    return Diff(losses, lost=len(losses))


def _first_difference(
    records: RecordSet, found: Iterable[Any], plain: Callable[[Any], tuple[Any, ...]]
) -> str:
    of = records.of
    pairs = zip_longest(records.iterate(), found, fillvalue=_MISSING)
    for position, (saved, read) in enumerate(pairs):
        if saved is _MISSING or read is _MISSING:
            more = "more" if saved is _MISSING else "fewer"
            return f"{more} than {position:,} of {records.count:,} records came back"
        try:
            values = plain(read)
        except _NOT_A_RECORD as error:
            return f"record {position:,} lacks a field: {type(error).__name__}: {error}"
        for name, expected, value in zip_longest(of.names, of.plain(saved), values):
            if _typed(expected) != _typed(value):
                return f"{name} of record {position:,}: {expected!r:.60} came back as {value!r:.60}"
    return "the records have equal values of other types"


def _typed(value: Any) -> Any:
    """Return a plain value with its type: 1, True and 1.0 are equal otherwise."""
    if isinstance(value, (list, tuple)):
        return [_typed(each) for each in value]
    return type(value), value


def _losses(found: Any, of: RecordType) -> Iterable[str]:
    for field in of.fields:
        if field.enum is not None:
            value = _value(found, field)
            if not isinstance(value, field.enum):
                yield f"{field.name}: {field.enum.__name__} comes back as {type(value).__name__}"


def _value(found: Any, field: Field) -> Any:
    """Return the value of a field of an object of any kind."""
    if isinstance(found, dict):
        return found[field.name]
    if isinstance(found, (list, tuple)):
        return None
    return getattr(found, field.name)
