"""Runs: what stays together when values are put in order."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, NamedTuple

from data_generator.realistic.run_mix import mixed
from data_generator.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.bits import Bits

LONG = 1.5
"""Runs that are so much longer than those of a memoryless process are made of their own kind."""


class Units(NamedTuple):
    """Pieces of a column that are put in order as wholes."""

    codes: np.ndarray
    """Shape (units,), dtype int64, ascending."""
    lengths: np.ndarray | None
    """Rows of each unit, shape (units,), dtype int64; None if all are 1."""


def units(counts: np.ndarray, mean: float, longest: float, bits: Bits) -> Units:
    """Cut the rows of each code into runs.

    Parameters
    ----------
    counts : numpy.ndarray
        How often each code occurs, shape (distinct,), dtype int64.
    mean : float
        Mean length of runs; longer ones end where a code's rows do.
    longest : float
        Length of the longest run in a window of 512 rows; if much more than chance makes of runs of that
        mean, all runs are either that long or single rows.
    bits : Bits
        Decides where runs end.
    """
    import numpy as np

    rows, distinct = int(counts.sum()), len(counts)
    codes = np.repeat(np.arange(distinct), counts)
    if mean <= 1:
        return Units(codes, None)
    # Each code begins a run anyway; the others are spread over all other rows.
    others = max(0.0, rows / mean - distinct)
    if longest > LONG * expected_longest(mean):
        starts = _starts_of_mixed_runs(rows, others, longest, bits)
    else:
        starts = bits.fractions(rows) < others / max(1, rows - distinct)
    starts[np.cumsum(counts) - counts] = True
    places = np.flatnonzero(starts)
    return Units(codes[places], np.diff(np.append(places, rows)))


def expected_longest(mean: float) -> float:
    """Return the expected longest run in a window, of memoryless runs of a mean length.

    It is near mean * (ln(runs) + 0.577); the logarithm is taken as linear between powers of two.
    """
    part, power = frexp(max(1.0, WINDOW / mean))
    return mean * (0.6931 * (power + 2 * part - 2) + 0.577)


def _starts_of_mixed_runs(rows: int, runs: float, longest: float, bits: Bits) -> np.ndarray:
    """Return where runs start that are single rows or of all scales, shape (rows,), dtype bool."""
    import numpy as np

    mix = mixed(rows / max(1.0, runs), longest, rows)
    ends = np.cumsum([run.per_row for run in mix])
    drawn = bits.fractions(int(rows * ends[-1] * 1.1) + mix[0].length)
    lengths = np.array([run.length for run in mix])[
        np.searchsorted(ends[:-1], drawn * ends[-1], "right")
    ]
    places = np.cumsum(lengths)
    starts = np.zeros(rows, dtype=bool)
    starts[places[places < rows]] = True
    return starts
