"""Fitting of a column's specification to the size of its Parquet file.

The redundancy of a column's order and texts cannot be measured directly. It is found by trial: columns
are generated and saved as Parquet with zstd until one is as large as the original. The fit changes one
or two numbers of the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from data_generator.profiling.text_profile import MOST_BITS
from data_generator.realistic.columns import column as generate_column
from data_generator.spec.dtypes import DTYPES, DtypeFamily
from data_generator.spec.spec import share, significant

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.spec.spec import ColumnSpec

    Adjustment = Callable[[ColumnSpec, float], ColumnSpec]


# Accepted error of the size, relative to the original.
TOLERANCE = 0.02

HALVINGS = 6

# Largest ratio of the new to the old error that justifies replacing a measured value.
WORTHWHILE = 0.8


def fit(spec: ColumnSpec, column: pa.Array, slack_bytes: float) -> ColumnSpec:
    """Return a column's specification, adjusted until the generated column is as large as the original.

    If the generated column is too large, the original has repetitions that the measures miss: windows
    are repeated. If it is too small, the original has less order than windows show: its longest runs,
    its clustering and, if that does not suffice, its sortedness and run lengths are reduced. For lists
    and records, items and fields are fitted.

    Parameters
    ----------
    spec : ColumnSpec
        Result of `data_generator.profiling.column_profile.profile_column`.
    column : pyarrow.Array
        Original column.
    slack_bytes : float
        Accepted error of the size in bytes, if larger than 2 %: it is negligible for the table.
    """
    if spec.items is not None:
        return replace(spec, items=fit(spec.items, column.flatten(), slack_bytes))
    if spec.fields:
        there = column.drop_null()
        parts = [fit(part, there.field(i), slack_bytes) for i, part in enumerate(spec.fields)]
        return replace(spec, fields=tuple(parts))
    return _flat(spec, column, slack_bytes)


def _flat(spec: ColumnSpec, column: pa.Array, slack_bytes: float) -> ColumnSpec:
    wanted = parquet_bytes(column)

    def excess(trial: ColumnSpec) -> float:
        """Return the excess size of a trial in bytes; 0 within the tolerance."""
        found = parquet_bytes(generate_column(trial, len(column), "fit")) - wanted
        return found if abs(found) > max(TOLERANCE * wanted, slack_bytes) else 0

    best, error = spec, excess(spec)
    for adjust in _adjustments(spec, error > 0):
        if not error:
            break
        best, error = _searched(best, error, adjust, excess)
    return best


def parquet_bytes(column: pa.Array) -> int:
    """Return the size of a Parquet file with one column, compressed by zstd at the default level."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"c": column}), sink, compression="zstd")
    return int(sink.getvalue().size)


def _adjustments(
    spec: ColumnSpec,
    too_large: bool,  # noqa: FBT001 (two lists of adjustments)
) -> Iterator[Adjustment]:
    """Yield adjustments with a parameter from 0, for small columns, to 1, for large ones."""
    if DTYPES[spec.dtype].family is DtypeFamily.TEXT:
        yield lambda spec, x: replace(spec, bits_per_character=significant(MOST_BITS * x))
    if too_large:
        yield lambda spec, x: replace(spec, repetition=share(1 - x))
        return
    yield lambda spec, x: replace(spec, longest_run=significant((spec.longest_run or 1) * (1 - x) + x))
    yield lambda spec, x: replace(spec, clustering=share(spec.clustering * (1 - x)))
    yield lambda spec, x: replace(
        spec,
        sortedness=share(spec.sortedness * (1 - x)),
        mean_run_length=significant(1 + (spec.mean_run_length - 1) * (1 - x)),
    )


def _searched(
    spec: ColumnSpec, error: float, adjust: Adjustment, excess: Callable[[ColumnSpec], float]
) -> tuple[ColumnSpec, float]:
    """Return the best specification of a bisection over an adjustment, and its error in bytes."""
    best, low, high = spec, 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        trial = adjust(spec, middle)
        found = excess(trial)
        if abs(found) < WORTHWHILE * abs(error):
            best, error = trial, found
        if not found:
            break
        low, high = (low, middle) if found > 0 else (middle, high)
    return best, error
