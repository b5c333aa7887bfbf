"""Where nulls are."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords
    from data_generator.spec.spec import ColumnSpec


def null_count(spec: ColumnSpec, rows: int) -> int:
    """Return how many of so many rows are null."""
    return round(spec.null_share * rows)


def validity(spec: ColumnSpec, rows: int, random: RandomWords) -> np.ndarray | None:
    """Return which rows are not null, shape (rows,), dtype bool; None if all are.

    Nulls are in blocks of random lengths, at random places with a value between them at least.
    """
    import numpy as np

    nulls = null_count(spec, rows)
    if nulls == 0:
        return None
    values = rows - nulls
    blocks = min(max(1, round(nulls / spec.null_run_length)), values + 1, nulls)
    # A choice of the gaps before, between and after values; and one of cuts between nulls.
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
    """Return `count` different numbers below `most`, ascending.

    Each number is a candidate by chance; spare candidates are left out evenly. That takes one pass,
    where a sort takes twenty.
    """
    import numpy as np

    likely = min(1.0, (count + 4 * sqrt(count) + 8) / max(1, most))
    found = np.flatnonzero(random.uniform(most) < likely)
    if len(found) < count:
        found = np.arange(most)
    return found[np.arange(count) * len(found) // count]
