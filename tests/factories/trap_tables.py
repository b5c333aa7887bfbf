"""Tables that trap engines, and their round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

import data_formats

if TYPE_CHECKING:
    from pathlib import Path

    from adapter_core import DataFormat


FIRST_PART = 25_000
"""Rows: more than any engine samples by default to infer types."""

TIMEDELTAS = pd.DataFrame({"d": pd.to_timedelta([1_001, None], unit="ns")})


def column(*values: object, beside: object = None) -> pd.DataFrame:
    """Return a table of one column and a second one, so no row is empty."""
    rows = len(values)
    return pd.DataFrame({"c": values, "row": range(rows) if beside is None else beside})


def late(first: object, last: object) -> pd.DataFrame:
    """Return a table with a different kind of value in the last row of its column."""
    return column(*[first] * FIRST_PART, last)


def saved(label: str, df: pd.DataFrame, folder: Path) -> tuple[DataFormat, Path]:
    """Save a table in a format, and return its adapter and the path."""
    adapter = data_formats.get(label)
    path = folder / f"table{adapter.suffix}"
    adapter.save(df, path)
    return adapter, path


def back(label: str, df: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return a table after a round trip through a format."""
    adapter, path = saved(label, df, folder)
    return adapter.read(path)
