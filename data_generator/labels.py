"""Index and column names as formats can keep them: the default index, and names that are text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError

if TYPE_CHECKING:
    import pandas as pd


def with_plain_labels(place: str | os.PathLike[str], df: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the default index and text names, and what was changed for that.

    An index that has a name, or that is no count, becomes columns, since it is data; one of numbers
    without a name, as it is left by filters, is dropped.

    Raises
    ------
    InvalidDataError
        If two columns would have one name.
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
    df = df.reset_index(drop=is_count, allow_duplicates=True)
    df.columns = pd.Index(names, dtype="str")
    return df, remarks


def refuse_duplicates(place: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Raise `InvalidDataError` if two columns have one name, which few formats can keep."""
    twice = [repr(name) for name, number in Counter(names).items() if number > 1]
    if twice:
        problem = f"has several columns of the same name: {', '.join(twice)}"
        raise InvalidDataError(place, problem, "give each its own name")


def _level_names(index: pd.Index) -> list[str]:
    """Return the names of an index' levels, for those without one what pandas calls them."""
    if index.nlevels == 1:
        return ["index" if index.name is None else _text_of(index.name)]
    return [f"level_{i}" if name is None else _text_of(name) for i, name in enumerate(index.names)]


def _text_of(name: object) -> str:
    if isinstance(name, tuple):
        return "_".join(str(part) for part in name if part != "")
    return str(name)
