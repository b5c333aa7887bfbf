"""Comparison of records read back with those saved."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from adapter_core import RecordSet, RecordType
from adapter_core.record_digest import digest
from adapter_core.record_type import Field, FieldKind
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
    """Return a plain value with its type: 1, True and 1.0 are equal otherwise, as are 0.0 and -0.0."""
    if isinstance(value, (list, tuple)):
        return [_typed(each) for each in value]
    if isinstance(value, dict):
        return {key: _typed(each) for key, each in value.items()}
    return type(value), value.hex() if isinstance(value, float) else value


def _losses(found: Any, of: RecordType) -> Iterable[str]:
    for field in of.fields:
        made = field.enum or _CLASSES.get(field.kind)
        if made is not None:
            value = _value(found, field, of)
            if value is not None and not isinstance(value, made):
                yield f"{field.name}: {made.__name__} comes back as {type(value).__name__}"


# Kinds whose plain values, or texts, verification takes for the values themselves.
_CLASSES: dict[FieldKind, type] = {
    FieldKind.BOOL: bool,
    FieldKind.BYTES: bytes,
    FieldKind.TIMESTAMP: datetime,
    FieldKind.DECIMAL: Decimal,
}


def _value(found: Any, field: Field, of: RecordType) -> Any:
    """Return the value of a field of an object of any kind; None if a message has no such attribute."""
    if isinstance(found, dict):
        return found[field.name]
    if isinstance(found, (list, tuple)):
        return found[of.names.index(field.name)]
    return getattr(found, field.name, None)
