"""Fits what cannot be measured: how redundant the order of a column and its texts are.

It is found by trial: columns are made and saved as Parquet with zstd until one is as large as the
original's. All that a spec gains by that is one or two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from data_generator.profiling.text import MOST_BITS
from data_generator.realistic.columns import column as made_column
from data_generator.spec.dtypes import DTYPES, DtypeFamily
from data_generator.spec.rounding import share, significant

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.spec.spec import ColumnSpec

    Knob = Callable[[ColumnSpec, float], ColumnSpec]


TOLERANCE = 0.02
"""Of the size: so far a trial may be from the original."""

HALVINGS = 6

WORTHWHILE = 0.8
"""An error that is not smaller by so much is no reason to leave what was measured."""


def fitted(spec: ColumnSpec, column: pa.Array, slack_bytes: float) -> ColumnSpec:
    """Return a column's spec, changed so that what it makes is as large as the column.

    A column that comes out too large repeats itself more than its spec says: windows come again. One
    that comes out too small has less order than windows show: its longest runs, its clustering, and if
    that does not do, its sortedness and runs are reduced. Of lists and records, the parts are fitted.

    Parameters
    ----------
    spec : ColumnSpec
        As `data_generator.profiling.columns.described` has it.
    column : pyarrow.Array
        The original.
    slack_bytes : float
        So far a column may be from the original anyway, since it makes no difference to the table.
    """
    if spec.items is not None:
        return replace(spec, items=fitted(spec.items, column.flatten(), slack_bytes))
    if spec.fields:
        there = column.drop_null()
        parts = [fitted(part, there.field(i), slack_bytes) for i, part in enumerate(spec.fields)]
        return replace(spec, fields=tuple(parts))
    return _flat(spec, column, slack_bytes)


def _flat(spec: ColumnSpec, column: pa.Array, slack_bytes: float) -> ColumnSpec:
    wanted = parquet_bytes(column)

    def excess(trial: ColumnSpec) -> float:
        """Return by how many bytes a trial is too large, 0 if it is near enough."""
        found = parquet_bytes(made_column(trial, len(column), "fit")) - wanted
        return found if abs(found) > max(TOLERANCE * wanted, slack_bytes) else 0

    best, error = spec, excess(spec)
    for knob in _knobs(spec, error > 0):
        if not error:
            break
        best, error = _searched(best, error, knob, excess)
    return best


def parquet_bytes(column: pa.Array) -> int:
    """Return the size of a Parquet file of one column, compressed by zstd at its writer's own level."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"c": column}), sink, compression="zstd")
    return int(sink.getvalue().size)


def _knobs(spec: ColumnSpec, too_large: bool) -> Iterator[Knob]:  # noqa: FBT001 (which half to yield)
    """Yield what can be changed: from 0, which makes columns small, to 1, which makes them large."""
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
    spec: ColumnSpec, error: float, knob: Knob, excess: Callable[[ColumnSpec], float]
) -> tuple[ColumnSpec, float]:
    """Return the best of the specs that halving the knob's range finds, and its error in bytes."""
    best, low, high = spec, 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        trial = knob(spec, middle)
        found = excess(trial)
        if abs(found) < WORTHWHILE * abs(error):
            best, error = trial, found
        if not found:
            break
        low, high = (low, middle) if found > 0 else (middle, high)
    return best, error
