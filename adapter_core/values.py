"""Checks of values that some formats cannot store; vectorised, and cheap beside a save.

They find e.g. text that readers of formats without types (CSV, XML, Excel through pandas) would turn
into numbers, and nanoseconds of datetimes, which many libraries drop silently.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import MAXYEAR, MINYEAR
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of, nested_array

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


LARGEST_EXACT_FLOAT = 2**53
"""64-bit floats represent all integers up to it: IEEE 754 binary64 has a 53-bit significand."""

LARGEST_INT64 = 2**63 - 1

NOT_XML = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"
"""Characters that XML forbids, in RE2's syntax: https://www.w3.org/TR/xml/#charsets"""

NANOSECOND_YEARS = 1678, 2261
"""First and last whole year of a 64-bit count of nanoseconds since 1970, see `pandas.Timestamp.min`."""

UNLIKE_ISO_8601 = "datetimes beyond the years 1 to 9999, or UTC offsets with seconds, unlike ISO 8601"
"""What `datetimes_unlike_iso_8601` finds: its years have four digits, and its offsets are in minutes."""

_FLOATS = {Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT}

# Africa/Monrovia: https://data.iana.org/time-zones/tzdb/africa
_LAST_OFFSET_WITH_SECONDS = 1972

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:inf|infinity|nan)\s*$"
_BOOLEAN = r"^(?i:true|false)$"


def text_columns(df: pd.DataFrame, *, with_unused: bool = False) -> Iterator[tuple[str, pa.Array]]:
    """Yield the name and the values, as Arrow text, of each column of text.

    For a column of categories the values are its categories that a row has, or all of them.
    """
    import pyarrow as pa

    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.TEXT:
            yield df.columns[position], pa.array(df.iloc[:, position].array, from_pandas=True)
        elif kind is Kind.CATEGORY:
            column = df.iloc[:, position]
            used = column if with_unused else column.cat.remove_unused_categories()
            categories = used.cat.categories.array
            yield df.columns[position], pa.array(categories, pa.string(), from_pandas=True)


def any_equals(text: pa.Array, value: str) -> bool:
    """Return True if one of the values is exactly `value`."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.equal(text, value)).as_py())


def any_matches(text: pa.Array, pattern: str) -> bool:
    """Return True if one of the values matches a regular expression (RE2 syntax)."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def any_contains(text: pa.Array, part: str) -> bool:
    """Return True if one of the values contains `part`."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(text, part)).as_py())


def longest_text(text: pa.Array) -> int:
    """Return the length of the longest value, in code points."""
    import pyarrow.compute as pc

    return pc.max(pc.utf8_length(text)).as_py() or 0


def longest_bytes(values: pa.Array | pa.ChunkedArray) -> int:
    """Return the length in bytes of the longest text, in UTF-8, or of the longest bytes; 0 of none."""
    import pyarrow.compute as pc

    return pc.max(pc.binary_length(values)).as_py() or 0


def reads_as_other_type(text: pa.Array) -> bool:
    """Return True if a reader that guesses types would turn this column into numbers or booleans."""
    import pyarrow.compute as pc

    # Readers convert a column only if all its values convert: the first rows nearly always show one
    # that does not.
    for guess in (_NUMBER, _BOOLEAN):
        for part in (text.slice(0, 1000), text):
            every = pc.all(pc.match_substring_regex(part, guess)).as_py()
            if not every:
                break
        if every and len(text) > text.null_count:
            return True
    return False


def integers_beyond_float(df: pd.DataFrame, kinds: set[Kind]) -> str | None:
    """Return the first column of these kinds with integers that 64-bit floats cannot represent."""
    return _first(df, kinds, lambda values: bool((abs(values) > LARGEST_EXACT_FLOAT).any()))


def integers_beyond_int64(df: pd.DataFrame) -> str | None:
    """Return the first column with integers that do not fit in 64 bits with a sign."""
    kinds = {Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED}
    return _first(df, kinds, lambda values: bool((values > LARGEST_INT64).any()))


def infinite_floats(df: pd.DataFrame) -> str | None:
    """Return the first column of floats with an infinite value."""
    import numpy as np

    return _first(df, _FLOATS, lambda values: bool(np.isinf(values).any()))


def with_nan(values: pa.Array) -> bool:
    """Return True if values of Arrow are floats, and one of them is NaN, which is not null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    return pa.types.is_floating(values.type) and bool(pc.any(pc.is_nan(values)).as_py())


def maps_with_repeated_keys(df: pd.DataFrame) -> str | None:
    """Return the first column of maps one of which has a key twice."""
    import numpy as np
    import pyarrow as pa

    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.MAP:
            maps = nested_array(df.iloc[:, position]).drop_null()
            offsets = maps.offsets.to_numpy()
            keys = maps.keys.slice(offsets[0], offsets[-1] - offsets[0])
            rows = np.repeat(np.arange(len(maps)), np.diff(offsets))
            entries = pa.table({"row": rows, "key": keys})
            if entries.group_by(["row", "key"]).aggregate([]).num_rows < len(keys):
                return str(df.columns[position])
    return None


def with_minus_zero(df: pd.DataFrame) -> str | None:
    """Return the first column of floats with minus zero."""
    import numpy as np

    return _first(df, _FLOATS, lambda values: bool((np.signbit(values) & (values == 0)).any()))


def zeros_of_both_signs(df: pd.DataFrame) -> str | None:
    """Return the first column of floats that are all zero, but not of one sign."""
    import numpy as np

    return _first(df, _FLOATS, lambda values: not values.any() and len({*np.signbit(values)}) > 1)


def rounded_to_infinity(df: pd.DataFrame, digits: int) -> str | None:
    """Return the first column with a finite float that so many decimal digits round to infinity."""
    import numpy as np

    # Digits that are cut off, and half a unit of the last one.
    cut = Context(digits, ROUND_DOWN).create_decimal(Decimal(sys.float_info.max))
    limit = float(cut + Decimal((0, (5,), cut.adjusted() - digits)))

    def is_bad(values: np.ndarray) -> bool:
        is_double = values.dtype == np.float64
        return is_double and bool((np.isfinite(values) & (abs(values) >= limit)).any())

    return _first(df, {Kind.FLOAT, Kind.NULLABLE_FLOAT}, is_bad)


def subnormal_floats(df: pd.DataFrame) -> str | None:
    """Return the first column with a 64-bit float nearer to zero than all that have full precision."""
    import numpy as np

    def is_bad(values: np.ndarray) -> bool:
        is_double = values.dtype == np.float64
        return is_double and bool(((abs(values) < sys.float_info.min) & (values != 0)).any())

    return _first(df, {Kind.FLOAT, Kind.NULLABLE_FLOAT}, is_bad)


def in_utc(column: pd.Series) -> pd.Series:
    """Return times with a time zone as moments in UTC without one, and any other column as it is."""
    import pandas as pd

    return column.dt.tz_convert(None) if isinstance(column.dtype, pd.DatetimeTZDtype) else column


def datetimes_beyond(df: pd.DataFrame, kinds: set[Kind], first: int, last: int) -> str | None:
    """Return the first column of datetimes or dates outside the years `first` to `last`."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in kinds:
            times = df.iloc[:, position].dropna()
            if len(times) and not (times.min().year >= first and times.max().year <= last):
                return str(df.columns[position])
    return None


def datetimes_beyond_python(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes outside the years of `datetime.datetime`, 1 to 9999."""
    return datetimes_beyond(df, {Kind.DATETIME, Kind.ZONED_DATETIME}, MINYEAR, MAXYEAR)


def datetimes_unlike_iso_8601(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes whose text is none of ISO 8601, see `UNLIKE_ISO_8601`."""
    return datetimes_beyond_python(df) or _offsets_with_seconds(df)


def _offsets_with_seconds(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes whose offset from UTC is not whole minutes.

    Text of ISO 8601 has offsets in minutes. Time zones had others until 1972, most until about 1900.
    """
    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.ZONED_DATETIME:
            times = df.iloc[:, position].dropna().dt.as_unit("s")
            if len(times) and times.min().year <= _LAST_OFFSET_WITH_SECONDS:
                offsets = times.dt.tz_localize(None) - in_utc(times)
                if (offsets.dt.total_seconds() % 60).any():
                    return str(df.columns[position])
    return None


def timedeltas_beyond_nanoseconds(df: pd.DataFrame) -> str | None:
    """Return the first column of timedeltas that do not fit in 64-bit nanoseconds."""
    import pandas as pd

    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.TIMEDELTA:
            spans = df.iloc[:, position].dropna()
            limit = pd.Timedelta.max.as_unit("s")
            if len(spans) and not (spans.min() >= -limit and spans.max() <= limit):
                return str(df.columns[position])
    return None


def with_nanoseconds(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes with parts of microseconds."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in (Kind.DATETIME, Kind.ZONED_DATETIME):
            times = df.iloc[:, position].dropna()
            if times.dt.unit == "ns" and times.dt.nanosecond.any():
                return str(df.columns[position])
    return None


def _first(df: pd.DataFrame, kinds: set[Kind], is_bad: Callable[[np.ndarray], bool]) -> str | None:
    for position, kind in enumerate(kinds_of(df)):
        if kind in kinds:
            values = df.iloc[:, position].dropna().to_numpy()
            if is_bad(values):
                return str(df.columns[position])
    return None
