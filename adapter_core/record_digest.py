"""Digest of records: SHA-256 of all fields in order, the same in every language.

docs/records_data.md specifies the bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from struct import Struct
from typing import Any

from adapter_core.record_type import Field, FieldKind, RecordType

_BYTE, _INT, _LONG, _DOUBLE = (Struct(each).pack for each in ("<?", "<i", "<q", "<d"))
# A length that no text has.
_NULL = _INT(-1)
# One call of the hash for many records: a call for each costs more than its bytes.
_BLOCK_ROWS = 4096


def digest(rows: Iterable[tuple[Any, ...]], of: RecordType) -> str:
    """Return the digest of records as 64 hexadecimal digits.

    Parameters
    ----------
    rows : iterable of tuple
        Plain values of the records, as `RecordType.plain` returns them.
    of : RecordType
        Their type.

    Raises
    ------
    struct.error, AttributeError, TypeError, ValueError
        If a value has another type than its field, as a boolean has in the place of a number.
    """
    found = hashlib.sha256()
    for block in encoded(rows, of):
        found.update(block)
    return found.hexdigest()


def encoded(rows: Iterable[tuple[Any, ...]], of: RecordType) -> Iterator[bytes]:
    """Yield the bytes of the digest of records, block by block; see `digest`."""
    encode = _flat_encoder(of) if of.is_flat else _encoder(of)
    for block in _blocks(rows):
        yield b"".join(map(encode, block))


def _blocks(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    remaining = iter(rows)
    while block := list(islice(remaining, _BLOCK_ROWS)):
        yield block


def _flat_encoder(of: RecordType) -> Callable[[tuple[Any, ...]], bytes]:
    # Half of the time of the general way: most digests are of such records.
    kinds = [each.kind for each in of.fields]
    texts = [place for place, kind in enumerate(kinds) if kind is FieldKind.TEXT]
    first_text = texts[0] if texts else len(kinds)
    if texts != list(range(first_text, len(kinds))):
        return _encoder(of)
    numbers = Struct(f"<{first_text}i").pack

    def encode(row: tuple[Any, ...]) -> bytes:
        integers = row[:first_text]
        # Most numbers are neither 0 nor 1, which are found sooner than types.
        if (0 in integers or 1 in integers) and bool in map(type, integers):
            raise TypeError("a boolean is no number")
        parts = [numbers(*integers)]
        for text in row[first_text:]:
            data = text.encode()
            parts += (_INT(len(data)), data)
        return b"".join(parts)

    return encode


def _encoder(of: RecordType) -> Callable[[tuple[Any, ...]], bytes]:
    encoders = [_field_encoder(each) for each in of.fields]

    def encode(row: tuple[Any, ...]) -> bytes:
        return b"".join([encoder(value) for encoder, value in zip(encoders, row, strict=True)])

    return encode


def _field_encoder(of: Field) -> Callable[[Any], bytes]:
    encode = _required_encoder(of)
    if of.kind in _WITH_LENGTH:
        return lambda value: _NULL if value is None else encode(value)
    if of.optional or of.record is not None:
        return lambda value: b"\0" if value is None else b"\1" + encode(value)
    return encode


def _required_encoder(of: Field) -> Callable[[Any], bytes]:
    if of.record is not None:
        return _encoder(of.record)
    if of.element is None:
        return _ENCODERS[of.kind]
    element = _field_encoder(of.element)
    if of.kind is FieldKind.MAP:
        return lambda values: (
            _INT(len(values))
            + b"".join([_text(key) + element(value) for key, value in sorted(values.items())])
        )
    return lambda values: _INT(len(_listed(values))) + b"".join(map(element, values))


def _listed(values: Any) -> Any:
    """Return the values of a list; a text is not a list of letters, nor a set one in order."""
    if isinstance(values, (str, bytes, AbstractSet, Mapping)):
        raise TypeError(f"{type(values).__name__} is no list")
    return values


def _bool(value: Any) -> bytes:
    if not isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} is no boolean")
    return _BYTE(value)


def _int(value: Any) -> bytes:
    if isinstance(value, bool):
        raise TypeError("a boolean is no number")
    return _INT(value)


def _long(value: Any) -> bytes:
    if isinstance(value, bool):
        raise TypeError("a boolean is no number")
    return _LONG(value)


def _double(value: Any) -> bytes:
    if not isinstance(value, float):
        raise TypeError(f"{type(value).__name__} is no float")
    return _DOUBLE(value)


def _text(value: str) -> bytes:
    return _bytes(value.encode())


def _bytes(data: Any) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(f"{type(data).__name__} is no bytes")
    return _INT(len(data)) + data


def _union(value: Any) -> bytes:
    for made, number, encode in _BRANCHES:
        if isinstance(value, made):
            return number + encode(value)
    raise TypeError(f"{type(value).__name__} is in no union")


# A boolean is a whole number, too.
_BRANCHES: tuple[tuple[type, bytes, Callable[[Any], bytes]], ...] = (
    (bool, b"\0", _bool),
    (int, b"\1", _long),
    (float, b"\2", _double),
    (str, b"\3", _text),
)
_WITH_LENGTH = {FieldKind.TEXT, FieldKind.BYTES, FieldKind.DECIMAL, FieldKind.LIST, FieldKind.MAP}
_ENCODERS: dict[FieldKind, Callable[[Any], bytes]] = {
    FieldKind.BOOL: _bool,
    FieldKind.INT32: _int,
    FieldKind.INT64: _long,
    FieldKind.FLOAT: _double,
    FieldKind.DOUBLE: _double,
    FieldKind.TEXT: _text,
    FieldKind.BYTES: _bytes,
    FieldKind.TIMESTAMP: _long,
    FieldKind.DECIMAL: _text,
    FieldKind.ENUM: _int,
    FieldKind.UNION: _union,
}
