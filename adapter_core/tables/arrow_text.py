"""Formats of text that are written from, and read into, Arrow tables.

Their readers know numbers, booleans, text and nulls alone, and infer the type of each column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ColumnNames, ColumnReads, Kind, Trait, kinds_of
from adapter_core.tables.arrow import REFUSES_WITHOUT_METADATA, arrow_of, retyped
from adapter_core.values import (
    UNLIKE_ISO_8601,
    datetimes_unlike_iso_8601,
    infinite_floats,
    integers_beyond_int64,
    text_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_AS_TEXT = "they would be read as text"

REFUSES = {
    **REFUSES_WITHOUT_METADATA,
    Kind.BINARY: _AS_TEXT,
    Kind.TIME: _AS_TEXT,
    Kind.TIMEDELTA: "they would be read as numbers or text",
    Kind.DECIMAL: "they would be read as floats",
    Kind.WIDE_DECIMAL: "they would be read as floats",
    Kind.ARROW: "Arrow's types are not kept",
    Kind.NESTED: _AS_TEXT,
    Kind.CATEGORY_NOT_TEXT: "categories are not kept",
}
"""Kinds of column that text does not bring back, with the reasons."""

DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity|nan)"
"""Text that most readers turn into numbers, for `InferredCSV.numbers`."""

BLOCK_BYTES = 2**24
"""Bytes that pyarrow parses at once, also the limit of a row.

pyarrow's own choice, 1 MiB, is soon too little for long text, and no faster.
"""

# Enough for the header and some rows, to infer types without reading the file.
_FIRST_BYTES = 2**16
# A text that is refused shows among the first rows as a rule; all follow if none does.
_FIRST_ROWS = 1_000


class InferredCSV(ColumnReads):
    """CSV whose reader infers types; text that it would turn into other types is refused.

    Small integers and floats come back as 64-bit ones; dates and categories as text.
    """

    suffix = ".csv"
    suite = "engines"
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    detects_truncation = False
    refuses: ClassVar = REFUSES
    numbers: ClassVar[str] = DECIMAL
    """Text that the reader turns into numbers, as a pattern for `all_match`."""
    booleans: ClassVar[str]
    """Text that the reader turns into booleans, likewise."""
    quotes_names: ClassVar[bool] = False
    """True if the names of columns are quoted, also the first one in the file."""

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(datetimes_unlike_iso_8601(df), UNLIKE_ISO_8601)
        if not self.quotes_names and df.columns[0].startswith("\ufeff"):
            raise self.refusal("the first column name starts with a byte order mark, which is not read")
        name = integers_beyond_int64(df)
        self._refuse_column(name, "integers beyond 2**63 - 1, read as floats")
        for name, text in text_columns(df):
            if all_match(text, self.numbers) or all_match(text, self.booleans):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")


class JSONLines(ColumnNames):
    """One JSON object a line, see https://jsonlines.org.

    JSON knows numbers, text, booleans and null alone: small integers and floats come back as 64-bit
    ones; dates and categories as text.
    """

    suffix = ".jsonl"
    suite = "engines"
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    holds_zero_rows = False
    detects_truncation = False
    tells_nan_from_null = False
    refuses: ClassVar = {
        **{kind: why for kind, why in REFUSES.items() if kind is not Kind.NESTED},
        Kind.MAP: "JSON's objects have keys of text, each once",
        Kind.EMPTY_STRUCT: "nothing in the file shows their type",
        Kind.OTHER_NESTED: _AS_TEXT,
    }
    refuses_inside: ClassVar = dict.fromkeys((Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME), _AS_TEXT)

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(datetimes_unlike_iso_8601(df), UNLIKE_ISO_8601)
        self._refuse_column(infinite_floats(df), "an infinite value; JSON has no infinity")
        self._refuse_column(integers_beyond_int64(df), "integers beyond 2**63 - 1, read differently")

    def _column_names(self, path: Path) -> list[str]:
        # The first line has the order of the columns; some readers change it.
        with path.open("rb") as file:
            return list(json.loads(file.readline()))


def plain_of(df: pd.DataFrame) -> pa.Table:
    """Return a table, shape (rows, columns), as an Arrow table of types that every engine writes.

    Categories become their text, and 16-bit floats 32-bit ones of the same values.
    """
    import pyarrow as pa

    def plain(dtype: pa.DataType) -> pa.DataType:
        if pa.types.is_dictionary(dtype):
            return dtype.value_type
        return pa.float32() if pa.types.is_float16(dtype) else dtype

    return retyped(arrow_of(df).replace_schema_metadata(), plain)


def minus_zero_among_whole(df: pd.DataFrame) -> str | None:
    """Return the first column of floats that are all whole numbers, one of them minus zero."""
    import numpy as np

    for position, kind in enumerate(kinds_of(df)):
        if kind in {Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT}:
            values = df.iloc[:, position].dropna().to_numpy()
            if (np.signbit(values) & (values == 0)).any() and (values == np.trunc(values)).all():
                return str(df.columns[position])
    return None


def all_match(text: pa.Array, pattern: str) -> bool:
    """Return True if all values that are neither null nor blank match a pattern, and any exist.

    Parameters
    ----------
    text : pyarrow.Array
        Text, shape (rows,).
    pattern : str
        A regular expression in RE2's syntax, for whole values without blanks around them.
    """
    import pyarrow.compute as pc

    # The first rows nearly always contain a value that does not match.
    for part in (text.slice(0, _FIRST_ROWS), text):
        if not pc.all(pc.match_substring_regex(part, rf"^\s*({pattern})?\s*$")).as_py():
            return False
    return bool(pc.any(pc.match_substring_regex(text, r"\S")).as_py())


def infer_schema(schema_of_block: Callable[[int], pa.Schema]) -> pa.Schema:
    """Return names and types of the columns, inferred from the first rows.

    Parameters
    ----------
    schema_of_block : callable
        Takes a number of bytes; returns the schema inferred from so many.
    """
    import pyarrow as pa

    try:
        return schema_of_block(_FIRST_BYTES)
    except pa.ArrowInvalid:
        # The first row, or the header, is longer.
        return schema_of_block(BLOCK_BYTES)


def read_times_as_text(inferred: pa.Schema, read: Callable[[list[str]], pa.Table]) -> pa.Table:
    """Return a table with dates and times as text, in their form in the file.

    Parameters
    ----------
    inferred : pyarrow.Schema
        Result of `infer_schema`.
    read : callable
        Takes names of columns; returns the table with these columns as text.
    """
    # Most dates show in the first rows. A column that starts with nulls may have some later, and then
    # the file is read twice.
    as_text = _times_in(inferred)
    table = read(as_text)
    late = _times_in(table.schema)
    return read(as_text + late) if late else table


def _times_in(schema: pa.Schema) -> list[str]:
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_temporal(field.type)]


def as_type(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return text as numbers, as booleans written "true" and "false", or as it is.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_boolean(kind):
        return text.cast(kind)
    is_true = pc.equal(text, "true")
    if not pc.all(pc.or_(is_true, pc.equal(text, "false")), min_count=0).as_py():
        raise pa.ArrowInvalid("neither true nor false")
    return is_true


def common_types(
    tables: Iterable[pa.Table], kinds: Sequence[pa.DataType], of_nulls: pa.DataType
) -> dict[str, tuple[pa.DataType, bool]]:
    """Return the first type that fits all text of a column, and True for nulls, by column.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        Batches of rows whose columns are all text.
    kinds : sequence of pyarrow.DataType
        Types to try, in this order; text if none fits.
    of_nulls : pyarrow.DataType
        The type of a column of nulls.
    """
    import pyarrow as pa

    fitting: dict[str, list[pa.DataType]] = {}
    has_values: set[str] = set()
    has_nulls: set[str] = set()
    for table in tables:
        for name, text in zip(table.column_names, table.columns, strict=True):
            fitting[name] = [kind for kind in fitting.get(name, kinds) if _fits(text, kind)]
            if text.null_count < len(text):
                has_values.add(name)
            if text.null_count:
                has_nulls.add(name)
    return {
        name: ((*found, pa.large_string())[0] if name in has_values else of_nulls, name in has_nulls)
        for name, found in fitting.items()
    }


def _fits(text: pa.ChunkedArray, kind: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        as_type(text, kind)
    except pa.ArrowInvalid:
        return False
    return True
