"""Dtypes of columns that libraries read as Python's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def typed(df: pd.DataFrame, *, are_floats: bool = False) -> pd.DataFrame:
    """Return a table of Python's objects with the dtypes that pandas infers.

    Integers and booleans with nulls have nullable dtypes, in which no value changes.

    Parameters
    ----------
    df : pandas.DataFrame
        Shape (rows, columns), all columns of objects.
    are_floats : bool
        Integers are floats without a fraction, so that those beyond 64 bits are floats.

    Raises
    ------
    ValueError
        If integers of a column are not those of one type of 64 bits.
    """
    import pandas as pd

    df = df.copy(deep=False)
    for position, name in enumerate(df.columns):
        column = df.iloc[:, position]
        match pd.api.types.infer_dtype(column, skipna=True):
            case "boolean" if column.isna().any():
                found = column.astype("boolean")
            case "integer":
                found = _integers(column, name, are_floats=are_floats)
            case "mixed-integer-float":
                found = column.astype("float64")
            case _:
                found = pd.Series(column.tolist())
        df.isetitem(position, found)
    return df


def _integers(column: pd.Series, name: str, *, are_floats: bool) -> pd.Series:
    """Return objects that are integers or nulls as integers of 64 bits, nullable ones if need be."""
    values = column.dropna()
    low, high = values.min(), values.max()
    if low < -(2**63) or high >= (2**64 if low >= 0 else 2**63):
        if are_floats:
            return column.astype("float64")
        raise ValueError(f"column {name!r} has integers beyond 64 bits")
    nullable = "Int64" if high < 2**63 else "UInt64"
    return column.astype(nullable if len(values) < len(column) else nullable.lower())
