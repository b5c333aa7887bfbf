"""Checks of values that only some formats cannot hold; vectorised, and cheap beside a save.

Formats without types (CSV, XML, Excel through pandas) guess them when they read: text that looks
like numbers comes back as numbers. Such tables are refused, with these checks.

Nanoseconds of datetimes, which many libraries cut off without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


_LARGEST_EXACT_FLOAT = 2**53
"""Beyond it a 64-bit float skips integers (IEEE 754 binary64 has a 53-bit significand)."""

NANOSECOND_YEARS = 1678, 2261
"""The whole years of a 64-bit count of nanoseconds since 1970, as `pandas.Timestamp.min` and max."""

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:inf|infinity|nan)\s*$"
_BOOLEAN = r"^(?i:true|false)$"


def text_columns(df: pd.DataFrame) -> Iterator[tuple[str, pa.Array]]:
    """Yield name and distinct or all values, as Arrow text, of each column that holds text.

    Of a category column the categories are given, since they stand for all its values.
    """
    import pyarrow as pa

    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.TEXT:
            yield df.columns[position], pa.array(df.iloc[:, position].array, from_pandas=True)
        elif kind is Kind.CATEGORY:
            categories = df.iloc[:, position].cat.categories
            yield df.columns[position], pa.array(categories.array, pa.string(), from_pandas=True)


def holds_text(text: pa.Array, value: str) -> bool:
    """Tell whether one of the values is exactly `value`."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.equal(text, value)).as_py())


def matches_text(text: pa.Array, pattern: str) -> bool:
    """Tell whether one of the values matches a regular expression (RE2 syntax)."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def contains_text(text: pa.Array, part: str) -> bool:
    """Tell whether one of the values contains `part`."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(text, part)).as_py())


def longest_text(text: pa.Array) -> int:
    """Return the length of the longest value, in code points."""
    import pyarrow.compute as pc

    return pc.max(pc.utf8_length(text)).as_py() or 0


def reads_as_other_type(text: pa.Array) -> bool:
    """Tell whether a reader that guesses types would take all of this text for numbers or booleans.

    Such readers convert a column only if all its values convert, so one value that does not is
    enough; the first one nearly always settles it.
    """
    import pyarrow.compute as pc

    for guess in (_NUMBER, _BOOLEAN):
        for part in (text.slice(0, 1000), text):
            every = pc.all(pc.match_substring_regex(part, guess)).as_py()
            if not every:
                break
        if every and len(text) > text.null_count:
            return True
    return False


def integers_beyond_float(df: pd.DataFrame, kinds: set[Kind]) -> str | None:
    """Return the first column of these kinds with integers that a 64-bit float cannot hold."""
    return _first(df, kinds, lambda values: bool((abs(values) > _LARGEST_EXACT_FLOAT).any()))


def infinite_floats(df: pd.DataFrame) -> str | None:
    """Return the first column of floats that holds an infinite value."""
    import numpy as np

    kinds = {Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT}
    return _first(df, kinds, lambda values: bool(np.isinf(values).any()))


def datetimes_beyond(df: pd.DataFrame, kinds: set[Kind], first: int, last: int) -> str | None:
    """Return the first column of datetimes, or dates, outside the years `first` to `last`."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in kinds:
            times = df.iloc[:, position].dropna()
            if len(times) and not (times.min().year >= first and times.max().year <= last):
                return str(df.columns[position])
    return None


def _first(df: pd.DataFrame, kinds: set[Kind], is_bad: Callable[[np.ndarray], bool]) -> str | None:
    for position, kind in enumerate(kinds_of(df)):
        if kind in kinds:
            values = df.iloc[:, position].dropna().to_numpy()
            if is_bad(values):
                return str(df.columns[position])
    return None


def with_nanoseconds(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes that are not whole microseconds."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in (Kind.DATETIME, Kind.ZONED_DATETIME):
            times = df.iloc[:, position].dropna()
            if times.dt.unit == "ns" and times.dt.nanosecond.any():
                return str(df.columns[position])
    return None
