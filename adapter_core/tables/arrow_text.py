"""pandas' tables on their way to text, whose readers know numbers, booleans, text and null alone.

Tables of text whose types pyarrow guesses, with what it takes for dates and times left as text.

What the CSV engines that take Arrow's columns have in common.

What the JSON engines that take Arrow's columns have in common.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.arrow import REFUSES_WITHOUT_NOTE, arrow_of
from adapter_core.traits import Trait
from adapter_core.values import infinite_floats, text_columns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_AS_TEXT = "they would be read as text"

REFUSES = {
    **REFUSES_WITHOUT_NOTE,
    Kind.BINARY: _AS_TEXT,
    Kind.TIME: _AS_TEXT,
    Kind.TIMEDELTA: "they would be read as numbers or text",
    Kind.DECIMAL: "they would be read as floats",
    Kind.ARROW: "Arrow's types are not kept",
    Kind.ARROW_NESTED: "Arrow's types are not kept",
    Kind.CATEGORY_NOT_TEXT: "categories are not kept",
}
"""Kinds of column that text does not bring back, and why."""

_LARGEST_INT64 = 2**63 - 1

_HEAD = 1_000
"""Rows that nearly always settle whether a column is all numbers."""


def plain_of(df: pd.DataFrame) -> pa.Table:
    """Return a table, shape (rows, columns), as an Arrow table of types that every engine writes.

    Categories become their text and 16-bit floats 32-bit ones, which hold the same values.
    """
    import pyarrow as pa

    table = arrow_of(df).replace_schema_metadata()
    for position, field in enumerate(table.schema):
        wanted = field.type
        if pa.types.is_dictionary(wanted):
            wanted = wanted.value_type
        elif pa.types.is_float16(wanted):
            wanted = pa.float32()
        if wanted != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(wanted))
    return table


def beyond_int64(df: pd.DataFrame) -> str | None:
    """Return the first column of integers that do not fit in 64 bits with a sign."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in {Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED}:
            values = df.iloc[:, position]
            if bool((values > _LARGEST_INT64).any()):
                return str(df.columns[position])
    return None


def minus_zero_among_whole(df: pd.DataFrame) -> str | None:
    """Return the first column of floats that are all whole numbers, one of them minus zero."""
    import numpy as np

    for position, kind in enumerate(kinds_of(df)):
        if kind in {Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT}:
            values = df.iloc[:, position].dropna().to_numpy()
            if (np.signbit(values) & (values == 0)).any() and (values == np.trunc(values)).all():
                return str(df.columns[position])
    return None


def is_all_like(text: pa.Array, pattern: str) -> bool:
    """Tell whether all values that are neither null nor blank match a pattern, and there are any.

    Parameters
    ----------
    text : pyarrow.Array
        Text, shape (rows,).
    pattern : str
        A regular expression in RE2's syntax, for whole values without blanks around them.
    """
    import pyarrow.compute as pc

    for part in (text.slice(0, _HEAD), text):
        if not pc.all(pc.match_substring_regex(part, rf"^\s*({pattern})?\s*$")).as_py():
            return False
    return bool(pc.any(pc.match_substring_regex(text, r"\S")).as_py())


BLOCK_BYTES = 2**24
"""What pyarrow parses at once, in bytes. A row must fit; pyarrow's own choice, 1 MiB, is soon too little
for long text, and no faster."""

FIRST_BYTES = 2**16
"""What is read, in bytes, to see which columns hold text like dates."""


def first_types(types_of_block: Callable[[int], pa.Schema]) -> pa.Schema:
    """Return names and types as the first rows look.

    Parameters
    ----------
    types_of_block : callable
        Returns the same of the first block of so many bytes.
    """
    import pyarrow as pa

    try:
        return types_of_block(FIRST_BYTES)
    except pa.ArrowInvalid:
        # A row, or the names, may be longer.
        return types_of_block(BLOCK_BYTES)


def without_times(first: pa.Schema, table_of: Callable[[list[str]], pa.Table]) -> pa.Table:
    """Return a table in which no type is a date or a time, read once more if need be.

    Parameters
    ----------
    first : pyarrow.Schema
        What `first_types` returns.
    table_of : callable
        Reads the table, with the columns of these names as text.
    """
    # Most dates show in the first rows; a column that begins with nulls may hold some all the same.
    as_text = _times_in(first)
    table = table_of(as_text)
    late = _times_in(table.schema)
    return table_of(as_text + late) if late else table


def _times_in(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that pyarrow took for dates or times."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_temporal(field.type)]


DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity|nan)"
"""Numbers as most readers take them, for `ArrowCSV.numbers`."""


class ArrowCSV(DataFormat):
    """CSV whose reader guesses types: columns of text that it would take for others are refused.

    Small integers and floats come back as 64-bit ones; dates and categories as text.
    """

    suffix = ".csv"
    suite = "engines"
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    supports: ClassVar = frozenset({Feature.COLUMNS})
    detects_truncation = False
    refuses: ClassVar = REFUSES
    numbers: ClassVar[str] = DECIMAL
    """What the reader takes for numbers, as a pattern for `is_all_like`."""
    booleans: ClassVar[str]
    """What the reader takes for booleans."""

    def _check_values(self, df: pd.DataFrame) -> None:
        name = beyond_int64(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains integers beyond 2**63 - 1, read as floats")
        for name, text in text_columns(df):
            if is_all_like(text, self.numbers) or is_all_like(text, self.booleans):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")


class JSONLines(DataFormat):
    """One JSON object a line, as the objects of https://jsonlines.org.

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
    refuses: ClassVar = REFUSES

    def _check_values(self, df: pd.DataFrame) -> None:
        name = infinite_floats(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains an infinite value; JSON has no infinity")
        name = beyond_int64(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains integers beyond 2**63 - 1, read differently")

    def _column_names(self, path: Path) -> list[str]:
        """Return the names of the first line; readers put columns in an order of their own at times."""
        with path.open("rb") as file:
            return list(json.loads(file.readline()))
