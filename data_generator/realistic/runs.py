"""Runs: what stays together when values are put in order.

Lengths of runs of which windows have longer ones than chance gives runs of that mean.

Sums of floats are those of `math.fsum`, which are exact; those of `sum` depend on Python's version.
"""

from __future__ import annotations

from math import frexp, fsum
from typing import TYPE_CHECKING, NamedTuple

from data_generator.spec.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords


LONG = 1.5
"""Runs that are so much longer than those of a memoryless process are made of their own kind."""


class Units(NamedTuple):
    """Pieces of a column that are put in order as wholes."""

    codes: np.ndarray
    """Shape (units,), dtype int64, ascending."""
    lengths: np.ndarray | None
    """Rows of each unit, shape (units,), dtype int64; None if all are 1."""


def units(counts: np.ndarray, mean: float, longest: float, random: RandomWords) -> Units:
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
    random : RandomWords
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
        starts = _starts_of_mixed_runs(rows, others, longest, random)
    else:
        starts = random.uniform(rows) < others / max(1, rows - distinct)
    starts[np.cumsum(counts) - counts] = True
    places = np.flatnonzero(starts)
    return Units(codes[places], np.diff(np.append(places, rows)))


def expected_longest(mean: float) -> float:
    """Return the expected longest run in a window, of memoryless runs of a mean length.

    It is near mean * (ln(runs) + 0.577); the logarithm is taken as linear between powers of two.
    """
    part, power = frexp(max(1.0, WINDOW / mean))
    return mean * (0.6931 * (power + 2 * part - 2) + 0.577)


def _starts_of_mixed_runs(rows: int, runs: float, longest: float, random: RandomWords) -> np.ndarray:
    """Return where runs start that are single rows or of all scales, shape (rows,), dtype bool."""
    import numpy as np

    mix = mixed(rows / max(1.0, runs), longest, rows)
    ends = np.cumsum([run.per_row for run in mix])
    drawn = random.uniform(int(rows * ends[-1] * 1.1) + mix[0].length)
    lengths = np.array([run.length for run in mix])[
        np.searchsorted(ends[:-1], drawn * ends[-1], "right")
    ]
    places = np.cumsum(lengths)
    starts = np.zeros(rows, dtype=bool)
    starts[places[places < rows]] = True
    return starts


SCALES = 16
"""Up to so many times the wanted longest run are tried; windows cut runs."""

HALVINGS = 12
STEPS = 32


class Run(NamedTuple):
    """Runs of one length."""

    length: int
    per_row: float
    """How many there are for each row of the column."""


def mixed(mean: float, longest: float, rows: int) -> list[Run]:
    """Return a mix of single rows and runs of all scales, of a mean and a mean longest run of windows.

    Parameters
    ----------
    mean : float
        Rows for each run, 1 or more.
    longest : float
        Mean over windows of the longest run in the window.
    rows : int
        Of the column; no run is longer.
    """
    largest = min(float(rows), SCALES * longest)
    scales = round(largest).bit_length() - 1
    # The fewer scales, the more rows in the longest runs, and the more single rows between them.
    while scales > 1 and _expected(_scaled(mean, largest, scales)) < longest:
        scales -= 1
    low, high = min(longest, largest), largest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = _expected(_scaled(mean, middle, scales)) < longest
        low, high = (middle, high) if short else (low, middle)
    return _scaled(mean, high, scales)


def _scaled(mean: float, largest: float, scales: int) -> list[Run]:
    """Return single rows, and runs of that length, half, a quarter, ... of it, all with as many rows.

    Short runs are left out where with them the mean is out of reach.
    """
    lengths = [max(2, round(largest) >> scale) for scale in range(max(1, scales))]
    while len(lengths) > 1 and _per_row(lengths) > 1 / mean:
        lengths.pop()
    # A share s of the rows is in such runs: runs per row = 1 - s + s * per row of them.
    share = min(1.0, (1 - 1 / mean) / (1 - _per_row(lengths)))
    return [*(Run(length, share / len(lengths) / length) for length in lengths), Run(1, 1 - share)]


def _per_row(lengths: list[int]) -> float:
    """Return how many runs a row has, if runs of each length have as many rows."""
    return fsum(1 / length for length in lengths) / len(lengths)


def _expected(mix: list[Run]) -> float:
    """Return the mean longest run of a window: the integral of the chance of one of that length or more.

    A run of length n reaches so far into a window that x rows of it are inside from n + window - 2 x
    places. Runs are taken to be independent of each other.
    """
    found = 0.0
    for step in range(STEPS):
        x = (step + 0.5) * WINDOW / STEPS
        number = fsum(run.per_row * (run.length + WINDOW - 2 * x) for run in mix if run.length >= x)
        # (1 + n / 8)**-8 is near exp(-n), which not all machines round in the same way.
        none = 1 / (1 + max(0.0, number) / 8)
        found += 1 - none * none * none * none * none * none * none * none
    return max(1.0, found * WINDOW / STEPS)
