"""Study of changed types: records of an older type, read by a program with a newer one."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import RecordSet, RecordType
from adapter_core.record_type import Field, FieldKind

if TYPE_CHECKING:
    from adapter_core import RecordStore

ADDED_VALUE = 5


@dataclass(slots=True)
class Item:
    """A record of the older type."""

    amount: int
    gone: str
    word: str


_AMOUNT = Field("amount", FieldKind.INT32, 1)
_GONE = Field("gone", FieldKind.TEXT, 2)
_WORD = Field("word", FieldKind.TEXT, 3)
_ADDED = Field("added", FieldKind.INT32, 4, default=ADDED_VALUE)
_RENAMED = replace(_WORD, name="title", earlier_name="word")

OLDER = RecordType("Item", (_AMOUNT, _GONE, _WORD), Item)

EXAMPLES = [Item(7, "g", "word of the first"), Item(-8, "", "word of the second")]

CHANGES: dict[str, tuple[RecordType, tuple[Any, ...]]] = {
    "field added at the end": (
        RecordType("Item", (_AMOUNT, _GONE, _WORD, _ADDED)),
        ("amount", "gone", "word", ADDED_VALUE),
    ),
    "field added between": (
        RecordType("Item", (_AMOUNT, _ADDED, _GONE, _WORD)),
        ("amount", ADDED_VALUE, "gone", "word"),
    ),
    "field removed": (
        RecordType("Item", (_AMOUNT, _WORD), retired=(_GONE,)),
        ("amount", "word"),
    ),
    "field renamed": (
        RecordType("Item", (_AMOUNT, _GONE, _RENAMED)),
        ("amount", "gone", "word"),
    ),
}
"""Newer types, and for each of their fields the older one that it has its value from, or its default."""


class Evolution(StrEnum):
    """What a program with the newer type gets from a file of the older one."""

    RIGHT = "right"
    """All values; a new field has its default."""
    ZERO = "zero"
    """All values; a new field is 0 instead of its default."""
    ABSENT = "absent"
    """Objects without the new or renamed field, or with null in its place."""
    ERROR = "error"
    """An error."""
    WRONG = "**wrong**"
    """Values of other fields, without an error."""


def outcome(store: RecordStore, change: str) -> Evolution:
    """Save records of the older type, read them with a newer one, and return the outcome.

    Parameters
    ----------
    store : RecordStore
        A store that is available.
    change : str
        One of `CHANGES`.
    """
    newer, _ = CHANGES[change]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"older{store.suffix}")
        store.save(RecordSet.of_objects(OLDER, EXAMPLES), path)
        try:
            found = store.read(path, newer)
        except Exception:
            return Evolution.ERROR
        try:
            values = [_of_type(store.plain(newer)(each), newer) for each in found]
        except (KeyError, AttributeError, IndexError):
            return Evolution.ABSENT
    return judged(values, change)


def judged(values: list[tuple[Any, ...]], change: str) -> Evolution:
    """Return the outcome of a read without an error, by the values of the records in order.

    Parameters
    ----------
    values : list of tuple
        Values of the newer type's fields, for each of `EXAMPLES`.
    change : str
        One of `CHANGES`.
    """
    _, sources = CHANGES[change]
    expected = [tuple(_value(each, source) for source in sources) for each in EXAMPLES]
    if values == expected:
        return Evolution.RIGHT
    if values == [tuple(0 if value == ADDED_VALUE else value for value in each) for each in expected]:
        return Evolution.ZERO
    pairs = list(zip(chain.from_iterable(values), chain.from_iterable(expected), strict=False))
    only_nulls = len(values) == len(expected) and all(value in {None, right} for value, right in pairs)
    return Evolution.ABSENT if only_nulls else Evolution.WRONG


def _of_type(values: tuple[Any, ...], of: RecordType) -> tuple[Any, ...]:
    """Return as many values as the type has fields, which a program takes by their places."""
    if len(values) < len(of.fields):
        raise IndexError(f"{len(values)} values for {len(of.fields)} fields")
    return values[: len(of.fields)]


def _value(item: Item, source: Any) -> Any:
    return getattr(item, source) if isinstance(source, str) else source
