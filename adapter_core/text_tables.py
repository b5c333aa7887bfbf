"""pandas' tables on their way to text, whose readers know numbers, booleans, text and null alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.arrow_frames import REFUSES_WITHOUT_NOTE, arrow_of
from adapter_core.kinds import Kind, kinds_of

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
