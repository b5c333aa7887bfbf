"""What the tests of engines' traps have in common: tables that trap, and saving them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

import data_formats

if TYPE_CHECKING:
    from pathlib import Path

    from adapter_core import DataFormat


FIRST_PART = 25_000
"""More rows than any of the engines guesses from unless told to."""

TIMEDELTAS = pd.DataFrame({"d": pd.to_timedelta([1_001, None], unit="ns")})


def column(*values: object, beside: object = None) -> pd.DataFrame:
    """Return a table of one column beside another, so that no row is empty."""
    rows = len(values)
    return pd.DataFrame({"c": values, "row": range(rows) if beside is None else beside})


def late(first: object, last: object) -> pd.DataFrame:
    """Return a table whose column turns to something else in its last row."""
    return column(*[first] * FIRST_PART, last)


def saved(label: str, df: pd.DataFrame, folder: Path) -> tuple[DataFormat, Path]:
    """Save a table in a format, and return its adapter and the path."""
    adapter = data_formats.get(label)
    path = folder / f"table{adapter.suffix}"
    adapter.save(df, path)
    return adapter, path


def back(label: str, df: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return what comes back of a table in a format."""
    adapter, path = saved(label, df, folder)
    return adapter.read(path)
