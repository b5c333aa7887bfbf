"""Nanoseconds of datetimes, which many libraries cut off without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import pandas as pd


def with_nanoseconds(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes that are not whole microseconds."""
    for position, kind in enumerate(kinds_of(df)):
        if kind in (Kind.DATETIME, Kind.ZONED_DATETIME):
            times = df.iloc[:, position].dropna()
            if times.dt.unit == "ns" and times.dt.nanosecond.any():
                return str(df.columns[position])
    return None
