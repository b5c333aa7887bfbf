"""Generation of one column from its specification, as an Arrow array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar

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
    return Variants(rows, *key).column(spec)


# Values do not depend on their order, nor their order on the random characters of texts.
_ORDER: dict[str, Any] = {
    "sortedness": 0.0,
    "mean_run_length": 1.0,
    "longest_run": 0.0,
    "clustering": 0.0,
    "repetition": 0.0,
}
_TEXT: dict[str, Any] = {"bits_per_character": 0.0}

T = TypeVar("T")


class Variants:
    """Flat columns of specifications that differ in few properties: what does not change is made once.

    Parameters
    ----------
    rows, *key
        As for `column`.
    """

    def __init__(self, rows: int, *key: str | int) -> None:
        self._rows, self._key = rows, key
        self._last: dict[str, tuple[ColumnSpec, Any]] = {}

    def column(self, spec: ColumnSpec) -> pa.Array:
        """Return the column that `column` returns."""
        rows = self._rows
        there = self._kept(
            "nulls",
            replace(spec, **_ORDER, **_TEXT),
            lambda: validity(spec, rows, RandomWords(*self._key, "nulls")),
        )
        count = rows - null_count(spec, rows)
        if not count:
            return _all_null(spec, rows)
        distinct = min(ranks.distinct_count(spec, count), capacity(spec))
        found = self._kept(
            "values",
            replace(spec, **_ORDER),
            lambda: values(spec, distinct, RandomWords(*self._key, "values")),
        )
        codes = self._kept(
            "order",
            replace(spec, **_TEXT),
            lambda: _codes(spec, count, found.ranks, RandomWords(*self._key, "order")),
        )
        return _taken(spec, found.values, codes, there)

    def _kept(self, part: str, of: ColumnSpec, make: Callable[[], T]) -> T:
        """Return a part of the last column if it was of the same properties, or else make it."""
        if part not in self._last or self._last[part][0] != of:
            self._last.pop(part, None)  # two of a part would be a column more in memory
            self._last[part] = of, make()
        found: T = self._last[part][1]
        return found


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
    """Return a nested column, generated from flat columns of its items, fields, or keys and values.

    The properties of nulls apply to whole lists and records, properties of width to the lengths of
    lists and maps; all others belong to items and fields.
    """
    import pyarrow as pa

    there = validity(spec, rows, RandomWords(*key, "nulls"))
    absent = None if there is None else pa.array(~there)
    if spec.dtype == "record":
        parts = [column(field, rows, *key, field.name) for field in spec.fields]
        return pa.StructArray.from_arrays(parts, [field.name for field in spec.fields], mask=absent)
    if spec.dtype == "vector":
        items = column(_items(spec), rows * spec.length, *key, "items")
        return pa.FixedSizeListArray.from_arrays(items, spec.length, mask=absent)
    lengths = widths(spec, rows, RandomWords(*key, "lengths")).clip(0)
    if there is not None:
        lengths[~there] = 0
    if spec.dtype == "map":
        return _maps(spec, lengths, there, *key)
    return _lists(spec, lengths, absent, *key)


def _items(spec: ColumnSpec) -> ColumnSpec:
    if spec.items is None:
        raise AssertionError("a list without a spec of its items passed the check of specs")
    return spec.items


def _maps(spec: ColumnSpec, lengths: np.ndarray, there: np.ndarray | None, *key: str | int) -> pa.Array:
    """Return maps of at most the given lengths: an entry whose key its map has already is left out."""
    import numpy as np
    import pyarrow as pa

    rows = np.repeat(np.arange(len(lengths)), lengths)
    keys, values = (column(each, len(rows), *key, each.name) for each in spec.fields)
    codes = keys.dictionary_encode().indices.to_numpy()
    _, first = np.unique(np.stack([rows, codes]), axis=1, return_index=True)
    kept = np.sort(first)
    ends = np.searchsorted(rows[kept], np.arange(len(lengths) + 1)).astype(np.int32)
    mask = None if there is None else np.append(~there, False)
    return pa.MapArray.from_arrays(pa.array(ends, mask=mask), keys.take(kept), values.take(kept))


def _lists(spec: ColumnSpec, lengths: np.ndarray, absent: pa.Array | None, *key: str | int) -> pa.Array:
    """Return lists of the given lengths, whose items together are one column."""
    import numpy as np
    import pyarrow as pa

    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    items = column(_items(spec), int(ends[-1]), *key, "items")
    return pa.LargeListArray.from_arrays(pa.array(ends), items, mask=absent)
