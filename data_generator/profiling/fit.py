"""Fitting of a column's specification to the size of its Parquet file.

The redundancy of a column's order and texts cannot be measured directly. It is found by trial: columns
are generated and saved as Parquet with zstd until one is as large as the original. The fit changes one
or two numbers of the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from data_generator.profiling.column_profile import entries_of
from data_generator.profiling.text_profile import MOST_BITS
from data_generator.realistic.columns import Variants
from data_generator.spec.dtypes import DTYPES, DtypeFamily
from data_generator.spec.spec import ColumnSpec, share, significant

if TYPE_CHECKING:
    import pyarrow as pa


# Accepted error of the size, relative to the original.
TOLERANCE = 0.02

# Trials within a bracket: sizes change nearly in proportion, and two or three reach the tolerance.
MOST_TRIALS = 6

# Largest ratio of the new to the old error that justifies replacing a measured value.
WORTHWHILE = 0.8


def fit(
    spec: ColumnSpec, column: pa.Array, slack_bytes: float, wanted_bytes: int | None = None
) -> ColumnSpec:
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
    wanted_bytes : int, optional
        Size of a flat column's file by `parquet_bytes`, if it is known.
    """
    if spec.items is not None:
        return replace(spec, items=fit(spec.items, column.flatten(), slack_bytes))
    if spec.dtype == "map":
        pairs = zip(spec.fields, entries_of(column), strict=True)
        return replace(spec, fields=tuple(fit(part, of, slack_bytes) for part, of in pairs))
    if spec.fields:
        there = column.drop_null()
        parts = [fit(part, there.field(i), slack_bytes) for i, part in enumerate(spec.fields)]
        return replace(spec, fields=tuple(parts))
    wanted = parquet_bytes(column) if wanted_bytes is None else wanted_bytes
    return _flat(spec, len(column), wanted, slack_bytes)


def _flat(spec: ColumnSpec, rows: int, wanted: int, slack_bytes: float) -> ColumnSpec:
    variants = Variants(rows, "fit")

    def excess(trial: ColumnSpec) -> float:
        """Return the excess size of a trial in bytes; 0 within the tolerance."""
        found = parquet_bytes(variants.column(trial)) - wanted
        return found if abs(found) > max(TOLERANCE * wanted, slack_bytes) else 0

    best, error = spec, excess(spec)
    for adjustment in _adjustments(spec, error > 0):
        if not error:
            break
        best, error = _searched(best, error, adjustment, excess)
    return best


def parquet_bytes(column: pa.Array) -> int:
    """Return the size of a Parquet file with one column, compressed by zstd at the default level."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"c": column}), sink, compression="zstd")
    return int(sink.getvalue().size)


class Adjustment(NamedTuple):
    """A way to change the size of a column."""

    apply: Callable[[ColumnSpec, float], ColumnSpec]
    """Takes a specification, and a parameter from 0, for small columns, to 1, for large ones."""
    unchanged: float
    """The parameter that changes nothing."""
    end: float
    """The parameter that changes most."""


def _adjustments(
    spec: ColumnSpec,
    too_large: bool,  # noqa: FBT001 (two lists of adjustments)
) -> Iterator[Adjustment]:
    """Yield the adjustments that make a column smaller, or larger."""
    if DTYPES[spec.dtype].family is DtypeFamily.TEXT:
        yield Adjustment(
            lambda spec, x: replace(spec, bits_per_character=significant(MOST_BITS * x)),
            min(1.0, spec.bits_per_character / MOST_BITS),
            0.0 if too_large else 1.0,
        )
    if too_large:
        yield Adjustment(lambda spec, x: replace(spec, repetition=share(1 - x)), 1.0, 0.0)
        return
    for reduce in (_shorter_runs, _less_clustered, _less_sorted):
        yield Adjustment(reduce, 0.0, 1.0)


def _shorter_runs(spec: ColumnSpec, x: float) -> ColumnSpec:
    return replace(spec, longest_run=significant((spec.longest_run or 1) * (1 - x) + x))


def _less_clustered(spec: ColumnSpec, x: float) -> ColumnSpec:
    return replace(spec, clustering=share(spec.clustering * (1 - x)))


def _less_sorted(spec: ColumnSpec, x: float) -> ColumnSpec:
    run_length = significant(1 + (spec.mean_run_length - 1) * (1 - x))
    return replace(spec, sortedness=share(spec.sortedness * (1 - x)), mean_run_length=run_length)


def _searched(
    spec: ColumnSpec, error: float, adjustment: Adjustment, excess: Callable[[ColumnSpec], float]
) -> tuple[ColumnSpec, float]:
    """Return the best specification along an adjustment, and its error in bytes.

    The largest change comes first: if it does not suffice, no smaller one does. Else false positions
    narrow the bracket, by the Illinois method (M. Dowell and P. Jarratt, BIT 11, 1971).
    """
    best, least = spec, error
    near, near_error = adjustment.unchanged, error
    far, far_error = adjustment.end, 0.0
    place, moved = far, ""
    for _ in range(MOST_TRIALS):
        trial = adjustment.apply(spec, place)
        found = excess(trial)
        if abs(found) < WORTHWHILE * abs(least):
            best, least = trial, found
        is_same = (found > 0) == (error > 0)
        if not found or (place == adjustment.end and is_same):
            break
        # An end that stays twice counts half, or the other one would creep towards the root.
        if is_same:
            near, near_error = place, found
            far_error /= 2 if moved == "near" else 1
            moved = "near"
        else:
            far, far_error = place, found
            near_error /= 2 if moved == "far" else 1
            moved = "far"
        place = near + (far - near) * near_error / (near_error - far_error)
    return best, least
