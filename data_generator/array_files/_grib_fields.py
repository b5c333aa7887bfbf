"""Fields of GRIB messages, several of which may share a message of edition 2."""

from __future__ import annotations

import os
from collections.abc import Iterator

Parts = tuple[tuple[int, int], ...]
"""Offset and size in bytes of a whole message, or of each section of one of its fields."""

# Sections of edition 2 (WMO Manual on Codes, FM 92 GRIB): 2 to 7, 3 to 7 or 4 to 7 may be repeated.
_INDICATOR, _BITMAP, _DATA = 0, 6, 7
_INDICATOR_BYTES, _END = 16, b"7777"
# In octet 6 of section 6: the bitmap of a field before applies.
_BITMAP_BEFORE = bytes([254])


def fields(descriptor: int, offset: int, size_bytes: int) -> list[Parts]:
    """Return the parts of each field of a message in an open file.

    Raises
    ------
    ValueError
        If its sections are not as long as the message.
    """
    whole = ((offset, size_bytes),)
    edition = os.pread(descriptor, _INDICATOR_BYTES, offset)[7]
    if edition != 2:  # noqa: PLR2004 (its number; edition 1 has one field a message)
        return [whole]
    found: list[Parts] = []
    latest = {_INDICATOR: (offset, _INDICATOR_BYTES)}
    bitmap = None
    for number, place, length in _sections(descriptor, offset, size_bytes):
        latest[number] = place, length
        if number == _BITMAP:
            if os.pread(descriptor, 1, place + 5) != _BITMAP_BEFORE:
                bitmap = place, length
            elif bitmap is not None:
                latest[number] = bitmap
        elif number == _DATA:
            found.append(tuple(latest[each] for each in sorted(latest)))
    return found if len(found) > 1 else [whole]


def _sections(descriptor: int, offset: int, size_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, offset and size in bytes of the sections between the indicator and the end."""
    place, end = offset + _INDICATOR_BYTES, offset + size_bytes - len(_END)
    while place < end:
        head = os.pread(descriptor, 5, place)
        length = int.from_bytes(head[:4], "big")
        if not len(head) <= length <= end - place:
            raise ValueError(f"the message at byte {offset:,} has a section of {length:,} bytes")
        yield head[4], place, length
        place += length


def message_of(descriptor: int, parts: Parts) -> bytes:
    """Return a field of an open file as a message of its own."""
    first, *sections = (os.pread(descriptor, size_bytes, offset) for offset, size_bytes in parts)
    if not sections:
        return first
    content = b"".join(sections) + _END
    # Octets 9 to 16 are the size of the message.
    return first[:8] + (len(first) + len(content)).to_bytes(8, "big") + content
