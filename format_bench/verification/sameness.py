"""Comparison of a table that a reader has printed with the one saved, both in canonical form.

Values are compared exactly, whatever their types are: 5 is 5 as an integer, a float or a decimal. A
saved float equals floats of more bits that round to it, and text equals the value that it spells in
the usual way.
"""

from __future__ import annotations

import base64
import itertools
import math
import re
import struct
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adapter_core.errors import CanonicalFormError
from format_bench.verification.canonical import FLOATS, INTEGERS, NAN, CanonicalTable, Type, digest
from format_bench.verification.columns import other_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 3
"""Differences that a sentence has at most: it stays one line."""

# Characters of a value that are shown; of a longer one its start and its digest.
_LONG = 60

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86_400 * 10**9

# Kinds of types whose values compare with each other; each other type is a kind of its own.
_KINDS = {
    **dict.fromkeys(("bool", "decimal", *INTEGERS, *FLOATS), "number"),
    **dict.fromkeys(("date", "timestamp"), "instant"),
}

_BITS = {name: 8 * struct.calcsize(code) for name, code in FLOATS.items()}

_COUNTS = {"instant", "time", "duration"}

_ISO = re.compile(
    r"(-?\d{4,}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?"
)
# A span of time as pandas spells it, e.g. "-1 days +23:59:59.5".
_SPAN = re.compile(r"(-?\d+) days? \+?(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")

_TIME_OF_DAY = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")


@dataclass(frozen=True)
class Sameness:
    """Difference of a table from the one saved."""

    changed: int
    """Number of values that differ."""
    retyped: int
    """Number of columns of another type, or with NaN for null, whose values are the same."""
    sentence: str
    """The first differences; empty if there are none."""


def compare(saved: CanonicalTable, read: CanonicalTable) -> Sameness:
    """Compare the table that a reader has printed with the one saved.

    Raises
    ------
    CanonicalFormError
        If a value is none of its column's type.
    """
    names, back = ([name for name, _ in each.columns] for each in (saved, read))
    size = len(names) * len(saved.rows)
    if names != back:
        return Sameness(max(1, size), 0, other_columns(names, back))
    if len(saved.rows) != len(read.rows):
        return Sameness(max(1, size), 0, f"{len(saved.rows):,} rows came back as {len(read.rows):,}")
    changed, retyped = 0, 0
    changes, retypings = list[str](), list[str]()
    for position, name in enumerate(names):
        if saved.digest(position) == read.digest(position):
            continue
        kind, kind_back = saved.columns[position][1], read.columns[position][1]
        found = compare_values(kind, saved.values(position), kind_back, read.values(position))
        changed += len(found.wrong)
        for row, phrase in list(zip(found.wrong, found.shown, strict=False))[: SHOWN - len(changes)]:
            changes.append(f"column {name}, row {row}: {phrase}")
        if found.retyping:
            retyped += 1
            retypings.append(f"column {name}: {found.retyping}")
    more = f"{changed - len(changes):,} more" if changed > len(changes) else ""
    shown = [*changes, *filter(None, [more]), *retypings[: max(1, SHOWN - len(changes))]]
    return Sameness(changed, retyped, "; ".join(shown))


@dataclass(frozen=True)
class Difference:
    """Difference of the values of a column."""

    wrong: list[int]
    """Places of the values that differ."""
    shown: list[str]
    """The first of them as phrases."""
    retyping: str
    """Difference of the types, if all values are the same; else empty."""


def compare_values(kind: Type, saved: list[Any], kind_back: Type, read: list[Any]) -> Difference:
    """Compare as many values of a type with those saved.

    Raises
    ------
    CanonicalFormError
        If a value is none of its type.
    """
    pairs = list(zip(saved, read, strict=True))
    wrong = [place for place, pair in enumerate(pairs) if not _same(kind, pair[0], kind_back, pair[1])]
    types = "" if kind == kind_back else f" ({kind_back} for {kind})"
    shown = [
        f"{_shown(kind, pairs[place][0])} came back as {_shown(kind_back, pairs[place][1])}{types}"
        for place in wrong[:SHOWN]
    ]
    is_exact = kind == kind_back and saved == read
    return Difference(wrong, shown, "" if wrong or is_exact else _retyping(kind, kind_back, pairs))


def _retyping(kind: Type, back: Type, pairs: list[tuple[Any, Any]]) -> str:
    """Return the difference of two columns of the same values, as a phrase."""
    if kind != back:
        return f"{kind} came back as {back}"
    one, other = next((pair for pair in pairs if pair[0] != pair[1]), (None, None))
    return f"{_shown(kind, one)} came back as {_shown(back, other)}"


def _shown(kind: Type, value: Any) -> str:
    """Return a value for people; a long one with its digest."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if kind.name in FLOATS:
        return repr(_float(kind, value))
    text = repr(value) if isinstance(value, str | list) and kind.name not in INTEGERS else str(value)
    if len(text) <= _LONG:
        return text
    return f"{text[:_LONG]}... ({len(text):,} characters, digest {digest(value)[:8]})"


def _same(kind: Type, one: Any, kind_back: Type, other: Any) -> bool:
    """Return whether two values are equal; a null equals NaN, which not all readers distinguish."""
    missing = _is_missing(kind, one), _is_missing(kind_back, other)
    if any(missing):
        return all(missing)
    if kind == kind_back and one == other:
        return True
    try:
        if (kind.name, kind_back.name) == ("map", "struct"):
            return _same_as_object(kind, one, kind_back, other)
        if kind.parts or kind_back.parts or {kind.name, kind_back.name} & {"list", "struct", "map"}:
            return _same_nested(_plain(kind), one, _plain(kind_back), other)
        return _same_flat(kind, one, kind_back, other)
    except (ValueError, TypeError, LookupError, ArithmeticError, struct.error) as error:
        text = f"{_shown(Type('other'), one)} or {_shown(Type('other'), other)}"
        raise CanonicalFormError(f"{text} is no value of {kind} or {kind_back}: {error}") from error


def _is_missing(kind: Type, value: Any) -> bool:
    return value is None or (value == NAN and kind.name in FLOATS)


def _plain(kind: Type) -> Type:
    """Return a map as the list of pairs that its values are."""
    if kind.name != "map":
        return kind
    return Type("list", (), (("", Type("struct", (), kind.parts)),))


def _same_as_object(kind: Type, pairs: list[Any], back: Type, values: list[Any]) -> bool:
    """Return whether a map equals an object of a language that has its maps and its structs alike."""
    keys = [key for key, _ in pairs]
    found = {
        name: (part, value)
        for (name, part), value in zip(back.parts, values, strict=True)
        if value is not None or name in keys
    }
    of_value = kind.parts[1][1]
    return found.keys() == {*keys} and all(_same(of_value, value, *found[key]) for key, value in pairs)


def _same_nested(kind: Type, one: Any, back: Type, other: Any) -> bool:
    if kind.name != back.name or len(one) != len(other):
        return False
    if kind.name == "list":
        part, part_back = kind.parts[0][1], back.parts[0][1]
        return all(
            _same(part, first, part_back, second) for first, second in zip(one, other, strict=True)
        )
    if len(kind.parts) != len(back.parts):
        return False
    inner, inner_back = ([part for _, part in each.parts] for each in (kind, back))
    return all(itertools.starmap(_same, zip(inner, one, inner_back, other, strict=True)))


def _same_flat(kind: Type, one: Any, back: Type, other: Any) -> bool:
    groups = [_KINDS.get(each.name, each.name) for each in (kind, back)]
    if groups == ["number", "number"]:
        return _same_numbers(kind, one, back, other)
    if groups[0] == groups[1] or {*groups} == {"time", "duration"}:
        return _count(kind, one) == _count(back, other) if groups[0] in _COUNTS else bool(one == other)
    if groups[1] == "utf8":
        return _stands_for(other, kind, one)
    if groups[0] == "utf8":
        return one in _spellings(back, other)
    if groups[0] in _COUNTS and groups[1] == "number":
        return _exact(back, other) == Fraction(one)  # the count of the unit
    return False


def _same_numbers(kind: Type, one: Any, back: Type, other: Any) -> bool:
    if kind.name in FLOATS and back.name in FLOATS:
        first, second = _float(kind, one), _float(back, other)
        if _BITS[back.name] > _BITS[kind.name]:
            try:
                return struct.pack(f">{FLOATS[kind.name]}", second).hex() == one
            except OverflowError:
                return False
        return first == second and math.copysign(1, first) == math.copysign(1, second)
    if "decimal" in {kind.name, back.name} and {kind.name, back.name} & {*FLOATS}:
        # The float nearest to a decimal has its shortest text.
        spelled, spelled_back = _spelled(kind, one), _spelled(back, other)
        return spelled is not None and spelled == spelled_back
    exact, exact_back = _exact(kind, one), _exact(back, other)
    return exact is not None and exact == exact_back


def _float(kind: Type, value: str) -> float:
    if value == NAN:
        return math.nan
    number: float = struct.unpack(f">{FLOATS[kind.name]}", bytes.fromhex(value))[0]
    return number


def _exact(kind: Type, value: Any) -> Fraction | None:
    """Return a number as it is; None for those that no integer is."""
    if kind.name not in FLOATS:
        return Fraction(value)
    number = _float(kind, value)
    if math.isinf(number) or (number == 0 and math.copysign(1, number) < 0):
        return None
    return Fraction(number)


def _spelled(kind: Type, value: Any) -> Fraction | None:
    """Return the number of the shortest text of a value; None for infinity."""
    if kind.name not in FLOATS:
        return Fraction(value)
    number = _float(kind, value)
    return Fraction(repr(number)) if math.isfinite(number) else None


def _count(kind: Type, value: str) -> int:
    """Return a date, a time or a span of time in nanoseconds."""
    return int(value) * (_DAY if kind.name == "date" else _NANOSECONDS[kind.arguments[0]])


def _stands_for(text: str, kind: Type, value: Any) -> bool:
    """Return whether a reader's text is a value that was saved with a type."""
    if kind.name == "bool":
        return text.lower() == str(value).lower()
    if kind.name in FLOATS:
        try:
            return struct.pack(f">{FLOATS[kind.name]}", float(text)).hex() == value
        except (ValueError, OverflowError):
            return False
    if kind.name == "binary":
        saved = base64.b64decode(value)
        return saved in {text.encode("utf-8", "surrogatepass"), _bytes_of_uuid(text)}
    if kind.name in {"date", "timestamp"}:
        return _instant(text) == _count(kind, value)
    if kind.name == "time":
        found = _TIME_OF_DAY.fullmatch(text)
        return found is not None and _of_clock(*found.groups()) == _count(kind, value)
    if kind.name == "duration" and (found := _SPAN.fullmatch(text)):
        days, *clock = found.groups()
        return int(days) * _DAY + _of_clock(*clock) == _count(kind, value)
    try:
        return Fraction(text) == Fraction(value)
    except (ValueError, ZeroDivisionError):
        return False


def _bytes_of_uuid(text: str) -> bytes | None:
    try:
        return uuid.UUID(text).bytes
    except ValueError:
        return None


def _instant(text: str) -> int | None:
    """Return the nanoseconds since 1970 of a date or time of ISO 8601; None if it is none."""
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    day, hours, minutes, seconds, fraction, zone = found.groups()
    try:
        days = (datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC) - _EPOCH) // timedelta(days=1)
    except ValueError:
        return None
    count = days * _DAY + _of_clock(hours or "0", minutes or "0", seconds, fraction)
    if zone in (None, "Z"):
        return count
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = _of_clock(digits[:2], digits[2:], None, None)
    return count - offset if zone[0] == "+" else count + offset


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _of_clock(hours: str, minutes: str, seconds: str | None, fraction: str | None) -> int:
    whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)
    return whole * 10**9 + int((fraction or "0").ljust(9, "0"))


def _spellings(kind: Type, value: Any) -> Iterator[str]:
    """Yield the texts that a value may have been read from without a loss, as "01" is not 1."""
    if kind.name == "bool":
        yield from (str(value), str(value).lower())
    elif kind.name in FLOATS:
        yield repr(_float(kind, value))
    elif kind.name in {"decimal", *INTEGERS}:
        yield value
    elif kind.name == "binary":
        yield base64.b64decode(value).decode("utf-8", "replace")
    elif kind.name == "date":
        yield str((_EPOCH + timedelta(days=int(value))).date())
