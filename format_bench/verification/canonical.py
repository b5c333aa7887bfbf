"""Canonical form of a table, which readers in all languages print for an exact comparison.

JSON lines: an object with the columns, their types and the number of rows, then an array for each row.
docs/compatibility.md describes types and values.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from adapter_core.errors import CanonicalFormError
from adapter_core.kinds import nested_array, without_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd
    import pyarrow as pa

INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = {"float16": "e", "float32": "f", "float64": "d"}
"""Codes of `struct` by type."""

NAN = "nan"

# Number of types inside; None for any.
_NESTED = {"list": 1, "map": 2, "struct": None}

_FLAT = ("null", "bool", *INTEGERS, *FLOATS, "decimal", "utf8", "binary")
_TYPES = {*_FLAT, *_NESTED, "date", "time", "timestamp", "duration", "other"}

_HEAD = re.compile(r"\s*([a-z]\w*)(?:\(([^()]*)\))?\s*(<\s*)?")
_NEXT = re.compile(r"\s*([,>])\s*")
_COLON = re.compile(r"\s*:")
_JSON = json.JSONDecoder()


@dataclass(frozen=True)
class Type:
    """Type of a column, or of the values inside nested ones."""

    name: str
    arguments: tuple[str, ...] = ()
    """Precision and scale, unit and zone, or for "other" a reader's own name of the type."""
    parts: tuple[tuple[str, Type], ...] = ()
    """Types inside a list, a struct, or a map (of keys, and of values), with the fields' names."""

    def __str__(self) -> str:
        if self.name in _NESTED:
            names = self.name == "struct"
            inside = (f"{json.dumps(name)}: {kind}" if names else str(kind) for name, kind in self.parts)
            return f"{self.name}<{', '.join(inside)}>"
        return f"{self.name}({', '.join(self.arguments)})" if self.arguments else self.name

    @classmethod
    def parse(cls, text: str) -> Type:
        """Return the type of a text such as ``list<timestamp(us, UTC)>``.

        Raises
        ------
        CanonicalFormError
            If it is none.
        """
        try:
            found, end = _parsed(text, 0)
        except (ValueError, RecursionError) as error:
            raise CanonicalFormError(f"{text[:80]!r} is no type: {error}") from error
        if text[end:].strip():
            raise CanonicalFormError(f"{text[:80]!r} is no type: {text[end:][:20]!r} comes after it")
        return found


def _parsed(text: str, place: int) -> tuple[Type, int]:
    """Return the type at a place of a text, and where it ends."""
    head = _HEAD.match(text, place)
    name = head[1] if head else ""
    if head is None or name not in _TYPES:
        raise ValueError(f"{text[place:][:20]!r} names none")
    arguments = tuple(each.strip() for each in (head[2] or "").split(",")) if head[2] else ()
    place, parts = head.end(), list[tuple[str, Type]]()
    is_open = bool(head[3])
    if is_open != (name in _NESTED):
        raise ValueError(f"{name} has {'types' if is_open else 'none'} inside")
    if is_open and text[place : place + 1] == ">":
        is_open, place = False, place + 1
    while is_open:
        label = ""
        if name == "struct":
            label, place = _JSON.raw_decode(text, place)
            colon = _COLON.match(text, place)
            if colon is None or not isinstance(label, str):
                raise ValueError(f"a field's name and a colon are missing at {text[place:][:20]!r}")
            place = colon.end()
        kind, place = _parsed(text, place)
        parts.append((label, kind))
        follows = _NEXT.match(text, place)
        if follows is None:
            raise ValueError(f"{name}< is not closed")
        is_open, place = follows[1] == ",", follows.end()
    wanted = _NESTED.get(name)
    if wanted is not None and len(parts) != wanted:
        raise ValueError(f"{name} has {len(parts)} types inside instead of {wanted}")
    return Type(name, arguments, tuple(parts)), place


@dataclass(frozen=True)
class CanonicalTable:
    """A table in canonical form; its values are JSON's."""

    columns: tuple[tuple[str, Type], ...]
    """Name and type of each column."""
    rows: Sequence[list[Any]]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the table that a reader has printed.

        Raises
        ------
        CanonicalFormError
            If it is none; the message names the line.
        """
        # Not by `splitlines`, which also takes characters that JSON allows within texts.
        first, *lines = text.removesuffix("\n").split("\n")
        try:
            head = json.loads(first)
            columns = tuple((each["name"], Type.parse(each["type"])) for each in head["columns"])
            announced = int(head["rows"])
        except CanonicalFormError:
            raise
        except (ValueError, TypeError, KeyError) as error:
            why = f"line 1 is no object with columns and rows: {first[:80]!r}"
            raise CanonicalFormError(why) from error
        rows = []
        for number, line in enumerate(lines, 2):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise CanonicalFormError(f"line {number} is no JSON: {error}") from error
            if not isinstance(row, list) or len(row) != len(columns):
                raise CanonicalFormError(f"line {number} is no array of {len(columns)} values")
            rows.append(row)
        if len(rows) != announced:
            raise CanonicalFormError(f"line 1 announces {announced} rows, but {len(rows)} follow")
        return cls(columns, rows)

    @classmethod
    def of_frame(cls, df: pd.DataFrame) -> Self:
        """Return a table of pandas, whose NaN are nulls where pandas does not distinguish them.

        Categories are their values. Types that have no canonical one are "other", and their values the
        text of Python's `repr`.
        """
        found = [_column(df.iloc[:, position]) for position in range(df.shape[1])]
        return cls._of_columns(map(str, df.columns), found, len(df))

    @classmethod
    def of_arrow(cls, table: pa.Table) -> Self:
        """Return a table of Arrow; extensions are printed as their storage, and runs as their values."""
        found = [_arrow_column(column) for column in table.columns]
        return cls._of_columns(table.column_names, found, table.num_rows)

    @classmethod
    def _of_columns(
        cls, names: Iterable[str], found: Sequence[tuple[Type, list[Any]]], number_of_rows: int
    ) -> Self:
        columns = tuple((name, kind) for name, (kind, _) in zip(names, found, strict=True))
        rows = [list(row) for row in zip(*(values for _, values in found), strict=True)]
        return cls(columns, rows or [[] for _ in range(number_of_rows)])

    @property
    def text(self) -> str:
        """The canonical form."""
        columns = [{"name": name, "type": str(kind)} for name, kind in self.columns]
        lines = [{"columns": columns, "rows": len(self.rows)}, *self.rows]
        return "".join(f"{json.dumps(each)}\n" for each in lines)

    def values(self, position: int) -> list[Any]:
        """Return the values of a column."""
        return [row[position] for row in self.rows]

    def digest(self, position: int) -> str:
        """Return a digest of the type and the values of a column."""
        return digest([str(self.columns[position][1]), *self.values(position)])


def digest(value: Any) -> str:
    """Return the digest of a value in canonical form: BLAKE2b of its JSON, 16 bytes in hexadecimal."""
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


def _column(column: pd.Series) -> tuple[Type, list[Any]]:
    """Return the type of a column of pandas, and its values."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    try:
        if (array := _array_of(column)) is not None:
            return printed(array)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    names = tuple(re.split(r",\s*", re.sub(r"[()]", " ", str(column.dtype)).strip()))
    pairs = zip(column.tolist(), column.isna().tolist(), strict=True)
    return Type("other", names), [None if is_null else repr(value) for value, is_null in pairs]


def _arrow_column(column: pa.ChunkedArray) -> tuple[Type, list[Any]]:
    """Return the type of a column of Arrow, and its values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if (plain := without_views(array.type)) != array.type:
        array = array.cast(plain)
    try:
        return printed(array)
    except TypeError:
        kind = Type("other", (re.sub(r"[(),]", " ", str(array.type)),))
        return kind, [None if each is None else repr(each) for each in array.to_pylist()]


def _array_of(column: pd.Series) -> pa.Array | None:
    """Return a column as an array of Arrow; None for objects that no type of Arrow has as they are."""
    import pyarrow as pa

    array = nested_array(column)
    if array is None:
        array = pa.array(column, from_pandas=True)
        if column.dtype == object and pa.types.is_nested(array.type):
            return None  # `nested_array` has refused them
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def printed(array: pa.Array) -> tuple[Type, list[Any]]:
    """Return the type of an array of Arrow, and its values.

    Raises
    ------
    TypeError
        If it has no canonical type.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind, present = _printed_without_nulls(array.drop_null())
    if len(present) == len(array):
        return kind, present
    values = iter(present)
    return kind, [next(values) if valid else None for valid in array.is_valid().to_pylist()]


def _printed_without_nulls(array: pa.Array) -> tuple[Type, list[Any]]:
    import pyarrow as pa

    is_, name = pa.types, str(array.type)
    if isinstance(array.type, pa.BaseExtensionType):
        raise TypeError(f"{name} is an extension")
    if is_.is_null(array.type):
        return Type("null"), []
    if is_.is_boolean(array.type):
        return Type("bool"), array.to_pylist()
    if is_.is_integer(array.type):
        return Type(name), [str(each) for each in array.to_pylist()]
    if is_.is_floating(array.type):
        return _floats(array)
    if is_.is_decimal(array.type):
        arguments = str(array.type.precision), str(array.type.scale)
        return Type("decimal", arguments), [format(each, "f") for each in array.to_pylist()]
    if name in {"string", "large_string", "string_view"}:
        return Type("utf8"), array.to_pylist()
    if "binary" in name and not is_.is_nested(array.type):
        return Type("binary"), [base64.b64encode(each).decode() for each in array.to_pylist()]
    if is_.is_temporal(array.type) and name != "month_day_nano_interval":
        return _counts(array)
    return _nested(array)


def _floats(array: pa.Array) -> tuple[Type, list[Any]]:
    import numpy as np

    numbers = np.ascontiguousarray(array.to_numpy(zero_copy_only=False))
    size = numbers.dtype.itemsize
    bits = [format(each, f"0{2 * size}x") for each in numbers.view(f"u{size}").tolist()]
    pairs = zip(bits, np.isnan(numbers).tolist(), strict=True)
    return Type(f"float{8 * size}"), [NAN if is_nan else text for text, is_nan in pairs]


def _counts(array: pa.Array) -> tuple[Type, list[Any]]:
    """Return dates, times and spans of time as counts of their unit."""
    import pyarrow as pa

    is_, kind = pa.types, array.type
    if is_.is_date(kind):
        return Type("date"), _texts(array.cast(pa.date32()).cast(pa.int32()))
    integers = array.cast(pa.int32() if is_.is_time32(kind) else pa.int64())
    names: dict[str, Callable[[Any], bool]] = {
        "time": is_.is_time,
        "timestamp": is_.is_timestamp,
        "duration": is_.is_duration,
    }
    name = next(each for each, has in names.items() if has(kind))
    zone = (kind.tz,) if name == "timestamp" and kind.tz else ()
    return Type(name, (kind.unit, *zone)), _texts(integers)


def _texts(integers: pa.Array) -> list[Any]:
    return [str(each) for each in integers.to_pylist()]


def _nested(array: pa.Array) -> tuple[Type, list[Any]]:
    """Return lists as arrays, structs as arrays in the order of fields, maps as arrays of pairs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_, kind = pa.types, array.type
    if is_.is_struct(kind):
        found = [printed(each) for each in array.flatten()]
        names = [kind.field(position).name for position in range(kind.num_fields)]
        parts = tuple(zip(names, (part for part, _ in found), strict=True))
        rows = [list(row) for row in zip(*(values for _, values in found), strict=True)]
        return Type("struct", (), parts), rows if found else [[] for _ in range(len(array))]
    if is_.is_map(kind):
        offsets = array.offsets.to_pylist()
        first, end = offsets[0], offsets[-1]
        (of_keys, keys), (of_items, items) = (
            printed(each.slice(first, end - first)) for each in (array.keys, array.items)
        )
        pairs = [list(pair) for pair in zip(keys, items, strict=True)]
        inner = ("", of_keys), ("", of_items)
        ends = [each - first for each in offsets]
        return Type("map", (), inner), [pairs[one:two] for one, two in itertools.pairwise(ends)]
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        inner_type, elements = printed(array.flatten())
        remaining = iter(elements)
        lengths = pc.list_value_length(array).to_pylist()
        lists = [[next(remaining) for _ in range(length)] for length in lengths]
        return Type("list", (), (("", inner_type),)), lists
    raise TypeError(f"{array.type} has no canonical type")
