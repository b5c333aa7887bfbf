"""Statistics of the order of values in windows of 512 rows: sortedness, runs and clustering.

All functions take codes, the numbers of values by size, shape (values,), dtype int64. The last window
may be shorter, as in the study (see `data_generator.spec.spec`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.spec.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np


# Fewest values with an order: of two, one is the larger in any case.
FEWEST = 3


def sortedness(codes: np.ndarray) -> float:
    """Return the mean over windows of the study's score of sortedness; 1 for less than three values.

    The score of n values is (max(asc, desc) + eq - n // 2) / (ceil(n / 2) - 1), where asc, desc and eq
    are the numbers of ascending, descending and equal neighbours. Windows of less than three values are
    ignored, and scores below 0 count as 0.
    """
    import numpy as np

    starts = np.arange(0, len(codes), WINDOW)
    sizes = np.diff(np.append(starts, len(codes)))
    if len(codes) < FEWEST:
        return 1.0
    inside = np.ones(len(codes), dtype=bool)
    inside[starts] = False
    steps = np.zeros(len(codes), np.int64)
    np.sign(codes[1:] - codes[:-1], out=steps[1:])
    ascending = np.add.reduceat((steps > 0) & inside, starts, dtype=np.int64)
    descending = np.add.reduceat((steps < 0) & inside, starts, dtype=np.int64)
    in_order = sizes - 1 - np.minimum(ascending, descending)
    kept = sizes >= FEWEST
    score = (in_order - sizes // 2)[kept] / (-(-sizes // 2) - 1)[kept]
    return float(score.clip(0).mean())


def run_starts(codes: np.ndarray) -> np.ndarray:
    """Return a mask of the first values of runs, shape (values,), dtype bool."""
    import numpy as np

    starts = np.ones(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=starts[1:])
    return starts


def mean_run_length(codes: np.ndarray) -> float:
    """Return the mean length of runs of equal values; 0 without values."""
    return len(codes) / int(run_starts(codes).sum()) if len(codes) else 0.0


def longest_run(codes: np.ndarray) -> float:
    """Return the mean over windows of the longest run inside the window; 0 without values."""
    import numpy as np

    if not len(codes):
        return 0.0
    starts = run_starts(codes)
    starts[::WINDOW] = True
    places = np.flatnonzero(starts)
    lengths = np.diff(np.append(places, len(codes)))
    of_window = np.searchsorted(places, np.arange(0, len(codes), WINDOW))
    return float(np.maximum.reduceat(lengths, of_window).mean())


def clustering(codes: np.ndarray) -> float:
    """Return the reduction of the spread of ranks in windows: 0 in random order, 1 in sorted order.

    Values are ranked by size, and equal values share a rank. The spread is the standard deviation, the
    mean over full windows compared with the whole column. Each run counts as one value, and a window is
    512 runs; 0 if there are less than two windows.
    """
    import numpy as np

    if len(codes) and (codes[1:] >= codes[:-1]).all():
        return 1.0
    # Long runs would make a window of rows poor in values, whatever their place in the column.
    heads = codes[run_starts(codes)]
    whole = len(heads) // WINDOW
    if whole <= 1:
        return 0.0
    counts = np.bincount(heads)
    placed = (np.cumsum(counts) - counts / 2)[heads]
    inside = float(placed[: whole * WINDOW].reshape(whole, WINDOW).std(axis=1).mean())
    # In sorted order, a window contains exactly its share of all ranks.
    found = (1 - inside / float(placed.std())) / (1 - WINDOW / len(heads))
    return min(1.0, max(0.0, found))
