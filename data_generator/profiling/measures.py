"""Measurement of the properties of a flat column, with the definitions of the study of real tables.

The study is cited in `data_generator.spec.spec`. Its code computes the same statistics, and calls the
mean of the longest runs in windows ``continue_mean``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from data_generator.profiling import frequencies, windows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Encoded(NamedTuple):
    """Values of a column that are not null, encoded by their order of size."""

    distinct: pa.Array
    """Distinct values in order of first appearance, shape (distinct,)."""
    codes: np.ndarray
    """Number, by size, of each row's value, shape (values,), dtype int64."""
    places: np.ndarray
    """Indices into `distinct` that sort it, shape (distinct,), dtype int64."""
    counts: np.ndarray
    """Number of occurrences of each value, sorted by size, shape (distinct,), dtype int64."""


def encode(column: pa.Array) -> Encoded:
    """Return the distinct values of a flat Arrow column and their codes; texts are sorted by bytes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    # Dictionary-encoding finds the distinct values in one pass; sorting those few gives the order.
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

    # Arrow has no sort for booleans.
    if pa.types.is_boolean(distinct.type):
        return np.argsort(np.asarray(distinct), kind="stable")
    return np.asarray(pc.array_sort_indices(distinct)).astype(np.int64)


@dataclass(frozen=True)
class Measures:
    """Statistics of one flat column; all but the null ratio refer to values that are not null."""

    rows: int
    null_ratio: float
    ndv_ratio: float
    """Number of distinct values / number of values; 0 without values."""
    distinct: int
    pattern: str
    """See `frequencies.pattern`."""
    zipf_s: float
    """See `frequencies.exponent`."""
    sortedness: float
    mean_run_length: float
    longest_run: float
    """Mean over windows of 512 values of the longest run, which the study calls run length."""
    clustering: float


def measure(column: pa.Array) -> Measures:
    """Return the statistics of a flat Arrow column."""
    return measure_encoded(encode(column), len(column), column.null_count)


def measure_encoded(found: Encoded, rows: int, nulls: int) -> Measures:
    """Return the statistics of an encoded column with its numbers of rows and nulls."""
    values = len(found.codes)
    counts = descending(found.counts)
    return Measures(
        rows=rows,
        null_ratio=nulls / rows if rows else 0.0,
        ndv_ratio=len(counts) / values if values else 0.0,
        distinct=len(counts),
        pattern=frequencies.pattern(counts),
        zipf_s=frequencies.exponent(counts) if values else 0.0,
        sortedness=windows.sortedness(found.codes),
        mean_run_length=windows.mean_run_length(found.codes),
        longest_run=windows.longest_run(found.codes),
        clustering=windows.clustering(found.codes),
    )


def descending(counts: np.ndarray) -> np.ndarray:
    """Return counts sorted by frequency rank."""
    import numpy as np

    return np.sort(counts)[::-1]
