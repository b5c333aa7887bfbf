"""Types that files do not name: dates and numbers in delimited text, and nested values among objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of, nested_array

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"(?P<minutes>\d{2}:\d{2})(?P<seconds>:\d{2}(?P<part>\.\d+)?)?"
_TIMESTAMP = rf"{_DATE}(?P<between>[T ]){_TIME}(?P<utc>Z|\+00:00)?"

# With a decimal comma, as in 1.234,5; or with thousands, as in 1,234.5.
_COMMAS = r"^[+-]?(\d+,\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(,\d{3})+(\.\d+)?)$"

# Units of times by their decimals of a second. Others would not be written back as they are read.
_UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}


def with_dates(df: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with datetimes in place of text that consists of dates or times.

    All values of a column have one form of ISO 8601, and are written back in it as they were: text like
    2024-02-30, or of two forms, remains. Times without a zone have none; Z and +00:00 are UTC.

    Returns
    -------
    pandas.DataFrame, list of str
        The table, and the names of the changed columns.
    """
    changed = []
    df = df.copy(deep=False)
    for position, text in _columns_of_text(df):
        if (times := _times(text)) is not None:
            df.isetitem(position, times.to_pandas())
            changed.append(str(df.columns[position]))
    return df, changed


def _columns_of_text(df: pd.DataFrame) -> Iterator[tuple[int, pa.Array]]:
    """Yield the position and the values of each column of text, whose dtype differs between versions."""
    import pyarrow as pa

    for position, kind in enumerate(kinds_of(df)):
        if kind is Kind.TEXT:
            yield position, pa.array(df.iloc[:, position].array, pa.large_string(), from_pandas=True)


def _times(text: pa.Array) -> pa.Array | None:
    """Return text as timestamps, shape (rows,); None if a value is none, or has another form."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = text.drop_null()
    first = values[0].as_py() if len(values) else ""
    form = re.fullmatch(_TIMESTAMP, first)
    if form is None and not re.fullmatch(_DATE, first):
        return None
    written, unit, utc = "%Y-%m-%d", "s", ""
    if form is not None:
        utc = form["utc"] or ""
        decimals = len(form["part"] or ".") - 1
        if decimals not in _UNITS:
            return None
        unit = _UNITS[decimals]
        written += f"{form['between']}%H:%M{':%S' if form['seconds'] else ''}"
    end = len(first) - len(utc)
    plain = pc.utf8_slice_codeunits(text, 0, end)
    try:
        times = plain.cast(pa.timestamp(unit))
    except pa.ArrowInvalid:
        return None
    same = pc.equal(pc.strftime(times, written).cast(pa.large_string()), plain)
    same_zone = pc.equal(pc.utf8_slice_codeunits(text, end), utc)
    if not (pc.all(same).as_py() and pc.all(same_zone).as_py()):
        return None
    # Microseconds, as pandas' own readers of dates give.
    return times.cast(pa.timestamp("ns" if unit == "ns" else "us", "UTC" if utc else None))


def numbers_with_commas(df: pd.DataFrame) -> list[str]:
    """Return the names of columns of text whose values are all numbers with commas.

    What they are is known to their author alone: 1,234 is a number of thousands, or of thousandths.
    """
    import pyarrow.compute as pc

    found = []
    for position, text in _columns_of_text(df):
        values = text.drop_null()
        # Most text ends here.
        if re.match(_COMMAS, values[0].as_py() if len(values) else "") is None:
            continue
        if pc.all(pc.match_substring_regex(values, _COMMAS)).as_py():
            found.append(str(df.columns[position]))
    return found


def with_nested_types(df: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table whose lists and dictionaries among objects are nested columns of Arrow.

    Those that no type of Arrow has as they are remain objects.

    Returns
    -------
    pandas.DataFrame, list of str
        The table, and the names of the changed columns.
    """
    import pandas as pd

    changed = []
    df = df.copy(deep=False)
    for position, dtype in enumerate(df.dtypes):
        if dtype == object and (array := nested_array(df.iloc[:, position])) is not None:
            df.isetitem(position, pd.arrays.ArrowExtensionArray(array))
            changed.append(str(df.columns[position]))
    return df, changed
