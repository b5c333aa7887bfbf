"""A column as numbers of its distinct values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Encoded(NamedTuple):
    """The values of a column that are not null."""

    distinct: pa.Array
    """In order of first appearance, shape (distinct,)."""
    codes: np.ndarray
    """Numbers of values by size, shape (values,), dtype int64."""
    places: np.ndarray
    """By size: the place in `distinct`; shape (distinct,), dtype int64."""
    counts: np.ndarray
    """By size: how often each value occurs; shape (distinct,), dtype int64."""


def encoded(column: pa.Array) -> Encoded:
    """Return the distinct values of a flat Arrow column and where they are; texts go by their bytes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    dictionary = pc.drop_null(column).dictionary_encode()
    distinct = dictionary.dictionary
    places = _order(distinct)
    by_size = np.empty(len(places), np.int64)
    by_size[places] = np.arange(len(places))
    codes = by_size[np.asarray(dictionary.indices)]
    return Encoded(distinct, codes, places, np.bincount(codes, minlength=len(places)))


def _order(distinct: pa.Array) -> np.ndarray:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(distinct.type):
        return np.argsort(np.asarray(distinct), kind="stable")
    return np.asarray(pc.array_sort_indices(distinct)).astype(np.int64)
