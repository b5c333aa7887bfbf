"""Normalisation of index and column names to those that all formats preserve."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError

if TYPE_CHECKING:
    import pandas as pd


def with_plain_labels(place: str | os.PathLike[str], df: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the default index and text names, and a remark for each change.

    An index with a name or of other values than integers is data, and becomes one or more columns. An
    unnamed index of integers, e.g. the rest of a filter, is dropped.

    Raises
    ------
    InvalidDataError
        If two columns would have the same name.
    """
    import pandas as pd

    remarks = []
    names = [_text_of(name) for name in df.columns]
    if names != list(df.columns):
        remarks.append("column names are made text")
    index = df.index
    is_count = index.nlevels == 1 and index.name is None and pd.api.types.is_integer_dtype(index.dtype)
    if not is_count:
        levels = _level_names(index)
        names = levels + names
        remarks.append(f"the index becomes a column: {', '.join(levels)}")
    elif not index.equals(pd.RangeIndex(len(df))):
        remarks.append("the index, numbers without a name, is dropped")
    refuse_duplicates(place, names)
    # refuse_duplicates has checked the new names already.
    df = df.reset_index(drop=is_count, allow_duplicates=True)
    df.columns = pd.Index(names, dtype="str")
    return df, remarks


def refuse_duplicates(place: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Raise `InvalidDataError` if two columns have the same name, which few formats support."""
    twice = [repr(name) for name, number in Counter(names).items() if number > 1]
    if twice:
        problem = f"has several columns of the same name: {', '.join(twice)}"
        raise InvalidDataError(place, problem, "give each its own name")


def _level_names(index: pd.Index) -> list[str]:
    """Return the names of an index' levels, with pandas' own names for unnamed ones."""
    if index.nlevels == 1:
        return ["index" if index.name is None else _text_of(index.name)]
    return [f"level_{i}" if name is None else _text_of(name) for i, name in enumerate(index.names)]


def _text_of(name: object) -> str:
    if isinstance(name, tuple):
        return "_".join(str(part) for part in name if part != "")
    return str(name)
