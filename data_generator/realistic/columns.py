"""Generation of one column from its specification, as an Arrow array."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords
from data_generator.realistic import order, ranks
from data_generator.realistic.values import capacity, values
from data_generator.realistic.widths import widths
from data_generator.spec.arrow import arrow_type
from data_generator.spec.dtypes import DTYPES, DtypeFamily
from data_generator.spec.spec import WINDOW, ColumnSpec

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def null_count(spec: ColumnSpec, rows: int) -> int:
    """Return the number of nulls in a column of `rows` rows."""
    return round(spec.null_share * rows)


def validity(spec: ColumnSpec, rows: int, random: RandomWords) -> np.ndarray | None:
    """Return a mask of the rows that are not null, shape (rows,), dtype bool; None without nulls.

    Nulls form blocks of random lengths at random places, separated by at least one value.
    """
    import numpy as np

    nulls = null_count(spec, rows)
    if nulls == 0:
        return None
    values = rows - nulls
    blocks = min(max(1, round(nulls / spec.null_run_length)), values + 1, nulls)
    # Blocks are placed in distinct gaps between values, and their lengths are those between distinct
    # cuts in the sequence of nulls.
    gaps = _chosen(blocks, values + 1, random)
    cuts = _chosen(blocks - 1, nulls - 1, random) + 1
    lengths = np.diff(np.concatenate([[0], cuts, [nulls]]))
    # A step at each block's first row and back after its last.
    starts = gaps + np.cumsum(lengths) - lengths
    steps = np.zeros(rows + 1, dtype=np.int8)
    steps[starts] = 1
    steps[starts + lengths] = -1
    return np.cumsum(steps[:rows], dtype=np.int8) == 0


def _chosen(count: int, most: int, random: RandomWords) -> np.ndarray:
    """Return `count` different numbers below `most`, ascending."""
    import numpy as np

    # Each number becomes a candidate at random, and spare candidates are dropped evenly: one pass,
    # where sorting random keys takes twenty. Four standard deviations make too few candidates rare.
    likely = min(1.0, (count + 4 * sqrt(count) + 8) / max(1, most))
    found = np.flatnonzero(random.uniform(most) < likely)
    if len(found) < count:
        found = np.arange(most)
    return found[np.arange(count) * len(found) // count]


def column(spec: ColumnSpec, rows: int, *key: str | int) -> pa.Array:
    """Return a column with the specified properties, shape (rows,).

    Parameters
    ----------
    spec : ColumnSpec
        Properties of the column.
    rows : int
        Number of rows, nulls included.
    *key : str or int
        Key of all random choices, see `data_generator.random_words.RandomWords`.
    """
    if DTYPES[spec.dtype].family is DtypeFamily.NESTED:
        return _nested_column(spec, rows, *key)
    there = validity(spec, rows, RandomWords(*key, "nulls"))
    count = rows - null_count(spec, rows)
    if not count:
        return _all_null(spec, rows)
    distinct = min(ranks.distinct_count(spec, count), capacity(spec))
    found = values(spec, distinct, RandomWords(*key, "values"))
    codes = _codes(spec, count, found.ranks, RandomWords(*key, "order"))
    return _taken(spec, found.values, codes, there)


def _all_null(spec: ColumnSpec, rows: int) -> pa.Array:
    import pyarrow as pa

    nothing = pa.nulls(rows, arrow_type(spec))
    return nothing.dictionary_encode() if spec.dtype == "category" else nothing


def _codes(spec: ColumnSpec, count: int, ranks_of: np.ndarray, random: RandomWords) -> np.ndarray:
    """Return the code of the value in each row that is not null, shape (count,), dtype int64."""
    distinct = len(ranks_of)
    # All distinct values, and at least one window, have to be in the rows that are not repetitions.
    room = (count - max(distinct, WINDOW)) // WINDOW
    again = max(0, min(round(spec.repetition * (count // WINDOW)), room))
    fresh = count - again * WINDOW
    of_ranks = ranks.counts(spec, fresh, distinct)
    return order.repeat_windows(order.arrange(spec, of_ranks[ranks_of], random), count, random)


def _taken(
    spec: ColumnSpec, distinct: pa.Array, codes: np.ndarray, there: np.ndarray | None
) -> pa.Array:
    """Return the values of codes, with nulls in all other rows."""
    import numpy as np
    import pyarrow as pa

    if there is None:
        indices = pa.array(codes, pa.int32())
    else:
        # Nulls are in the indices: Arrow takes a masked index for a null.
        filled = np.zeros(len(there), np.int32)
        filled[there] = codes
        indices = pa.array(filled, mask=~there)
    if spec.dtype == "category":
        return pa.DictionaryArray.from_arrays(indices, distinct)
    return distinct.take(indices)


def _nested_column(spec: ColumnSpec, rows: int, *key: str | int) -> pa.Array:
    """Return a column of lists or records, generated from flat columns of their items or fields.

    The properties of nulls apply to whole lists and records, properties of width to the lengths of
    lists; all others belong to items and fields.
    """
    import pyarrow as pa

    there = validity(spec, rows, RandomWords(*key, "nulls"))
    absent = None if there is None else pa.array(~there)
    if spec.dtype == "record":
        parts = [column(field, rows, *key, field.name) for field in spec.fields]
        return pa.StructArray.from_arrays(parts, [field.name for field in spec.fields], mask=absent)
    lengths = widths(spec, rows, RandomWords(*key, "lengths")).clip(0)
    if there is not None:
        lengths[~there] = 0
    return _lists(spec, lengths, absent, *key)


def _lists(spec: ColumnSpec, lengths: np.ndarray, absent: pa.Array | None, *key: str | int) -> pa.Array:
    """Return lists of the given lengths, whose items together are one column."""
    import numpy as np
    import pyarrow as pa

    if spec.items is None:
        raise AssertionError("a list without a spec of its items passed the check of specs")
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    items = column(spec.items, int(ends[-1]), *key, "items")
    return pa.LargeListArray.from_arrays(pa.array(ends), items, mask=absent)
