"""Positions of nulls."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec


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
