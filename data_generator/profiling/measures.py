"""A column as numbers of its distinct values.

The properties of a column that the study of real tables has, measured.

The study is named in `spec.spec`; its code computes the same statistics, and calls the mean of
the longest runs in windows ``continue_mean``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from data_generator.profiling import frequencies, windows

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


@dataclass(frozen=True)
class Measures:
    """Statistics of one flat column; those of values are of the ones that are not null."""

    rows: int
    null_ratio: float
    ndv_ratio: float
    """Distinct values / values; 0 if there are no values."""
    distinct: int
    pattern: str
    """See `frequencies.pattern`."""
    zipf_s: float
    """See `frequencies.exponent`."""
    sortedness: float
    mean_run_length: float
    longest_run: float
    """Mean over windows of 512 values; what the study's run lengths are."""
    clustering: float


def measured(column: pa.Array) -> Measures:
    """Return the statistics of a flat Arrow column."""
    return of_encoded(encoded(column), len(column), column.null_count)


def of_encoded(found: Encoded, rows: int, nulls: int) -> Measures:
    """Return the statistics of a column that was encoded already."""
    values = len(found.codes)
    descending = in_descending_order(found.counts)
    return Measures(
        rows=rows,
        null_ratio=nulls / rows if rows else 0.0,
        ndv_ratio=len(descending) / values if values else 0.0,
        distinct=len(descending),
        pattern=frequencies.pattern(descending),
        zipf_s=frequencies.exponent(descending) if values else 0.0,
        sortedness=windows.sortedness(found.codes),
        mean_run_length=windows.mean_run_length(found.codes),
        longest_run=windows.longest_run(found.codes),
        clustering=windows.clustering(found.codes),
    )


def in_descending_order(counts: np.ndarray) -> np.ndarray:
    """Return counts by frequency rank."""
    import numpy as np

    return np.sort(counts)[::-1]
