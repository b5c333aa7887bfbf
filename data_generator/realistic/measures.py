"""The properties of a column that the study of real tables has, measured.

The study is named in `data_generator.spec`; its code computes the same statistics, and calls the mean of
the longest runs in windows ``continue_mean``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from data_generator.realistic import frequencies, windows
from data_generator.realistic.encoded import Encoded, encoded

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


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
