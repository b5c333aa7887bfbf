"""Parts of data that a reader returns in place of the whole."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def count_of(values: Any) -> int:
    """Return the number of rows or records, of images with their labels that of the images."""
    return len(values[0] if isinstance(values, tuple) else values)


def arranged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in an order that depends on their values alone."""
    return table.sort_values(list(table.columns), ignore_index=True, kind="stable")


def is_part(known: pd.DataFrame, found: pd.DataFrame, *, is_ordered: bool) -> bool:
    """Return whether rows are a part of a table.

    Parameters
    ----------
    known, found : pandas.DataFrame
        The table and the rows, whose last one may be damaged, if their order counts.
    is_ordered : bool
        Whether the rows are the first of the table; otherwise they may be any.
    """
    if list(found.columns) != list(known.columns) or len(found) >= len(known):
        return False
    if not is_ordered:
        return len(found.merge(known.drop_duplicates(), how="inner")) == len(found)
    count = max(0, len(found) - 1)
    head = known.head(count)
    return all(_is_same(head[name], found[name].head(count)) for name in known.columns)


def _is_same(known: pd.Series, found: pd.Series) -> bool:
    """Return whether values are the same, also as a type that a damaged value has made of the column."""
    if found.dtype == known.dtype:
        return found.equals(known)
    if (found.astype(str) == known.astype(str)).all():
        return True
    with suppress(ValueError, TypeError):
        return found.astype(known.dtype).equals(known)
    return False
