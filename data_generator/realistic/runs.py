"""Runs of equal values: units that stay together when a column is put in order.

Runs are memoryless, with a geometric distribution of lengths, or a mix of single rows and runs of all
scales if the longest runs in windows have to be longer than memoryless ones.

Floats are added by `math.fsum`, which is exact; the result of `sum` depends on Python's version.
"""

from __future__ import annotations

from math import frexp, fsum
from typing import TYPE_CHECKING, NamedTuple

from data_generator.spec.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np

    from data_generator.random_words import RandomWords


# Smallest ratio of the longest run to the longest of memoryless runs that requires a mix.
LONG = 1.5

# Largest length in a mix, relative to the wanted longest run; windows cut runs.
SCALES = 16

# The bracket shrinks to 1/4,096.
HALVINGS = 12
STEPS = 32


class Units(NamedTuple):
    """Runs of a column."""

    codes: np.ndarray
    """Shape (units,), dtype int64, ascending."""
    lengths: np.ndarray | None
    """Rows of each unit, shape (units,), dtype int64; None if all are 1."""


def units(counts: np.ndarray, mean: float, longest: float, random: RandomWords) -> Units:
    """Cut the rows of each code into runs.

    Parameters
    ----------
    counts : numpy.ndarray
        Number of occurrences of each code, shape (distinct,), dtype int64.
    mean : float
        Mean length of runs; no run is longer than its code has rows.
    longest : float
        Mean length of the longest run in a window of 512 rows; ignored unless it is much longer than
        the deviation of memoryless runs.
    random : RandomWords
        Source of the ends of runs.
    """
    import numpy as np

    rows, distinct = int(counts.sum()), len(counts)
    codes = np.repeat(np.arange(distinct), counts)
    if mean <= 1:
        return Units(codes, None)
    # The first row of each code starts a run anyway; other starts are random.
    others = max(0.0, rows / mean - distinct)
    if longest > LONG * expected_longest(mean):
        starts = _starts_of_mixed_runs(rows, others, longest, random)
    else:
        starts = random.uniform(rows) < others / max(1, rows - distinct)
    starts[np.cumsum(counts) - counts] = True
    places = np.flatnonzero(starts)
    return Units(codes[places], np.diff(np.append(places, rows)))


def expected_longest(mean: float) -> float:
    """Return the expected longest run in a window of memoryless runs with a mean length.

    It is about mean * (ln(runs) + 0.577), with the logarithm interpolated between powers of two.
    """
    part, power = frexp(max(1.0, WINDOW / mean))
    return mean * (0.6931 * (power + 2 * part - 2) + 0.577)


def _starts_of_mixed_runs(rows: int, runs: float, longest: float, random: RandomWords) -> np.ndarray:
    """Return a mask of the first rows of runs of a mix, shape (rows,), dtype bool."""
    import numpy as np

    mix = mix_runs(rows / max(1.0, runs), longest, rows)
    ends = np.cumsum([run.per_row for run in mix])
    drawn = random.uniform(int(rows * ends[-1] * 1.1) + mix[0].length)
    lengths = np.array([run.length for run in mix])[
        np.searchsorted(ends[:-1], drawn * ends[-1], "right")
    ]
    places = np.cumsum(lengths)
    starts = np.zeros(rows, dtype=bool)
    starts[places[places < rows]] = True
    return starts


class RunsOfLength(NamedTuple):
    """All runs of one length in a mix."""

    length: int
    per_row: float
    """Number of runs / number of rows of the column."""


def mix_runs(mean: float, longest: float, rows: int) -> list[RunsOfLength]:
    """Return the mix of single rows and runs of all scales with a mean and a longest run.

    Parameters
    ----------
    mean : float
        Mean length, 1 or more.
    longest : float
        Mean over windows of the longest run in the window.
    rows : int
        Number of rows of the column, the upper limit of lengths.
    """
    largest = min(float(rows), SCALES * longest)
    scales = round(largest).bit_length() - 1
    # With fewer scales, more rows are in the longest runs, and more single rows between them.
    while scales > 1 and _expected(_scaled(mean, largest, scales)) < longest:
        scales -= 1
    low, high = min(longest, largest), largest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = _expected(_scaled(mean, middle, scales)) < longest
        low, high = (middle, high) if short else (low, middle)
    return _scaled(mean, high, scales)


def _scaled(mean: float, largest: float, scales: int) -> list[RunsOfLength]:
    """Return single rows and runs of `largest`, half of it, a quarter, ..., each with as many rows.

    The shortest runs are omitted if the mean cannot be reached with them.
    """
    lengths = [max(2, round(largest) >> scale) for scale in range(max(1, scales))]
    while len(lengths) > 1 and _per_row(lengths) > 1 / mean:
        lengths.pop()
    # If the share s of rows is in such runs, runs per row are 1 - s + s * _per_row(lengths).
    share = min(1.0, (1 - 1 / mean) / (1 - _per_row(lengths)))
    return [
        *(RunsOfLength(length, share / len(lengths) / length) for length in lengths),
        RunsOfLength(1, 1 - share),
    ]


def _per_row(lengths: list[int]) -> float:
    """Return the number of runs per row, if runs of each length have equally many rows."""
    return fsum(1 / length for length in lengths) / len(lengths)


def _expected(mix: list[RunsOfLength]) -> float:
    """Return the mean longest run of a window, integrating the probability of a run of x rows or more.

    There are n + window - 2 x places where a run of length n has x rows or more inside the window. Runs
    are assumed to be independent of each other.
    """
    found = 0.0
    for step in range(STEPS):
        x = (step + 0.5) * WINDOW / STEPS
        number = fsum(run.per_row * (run.length + WINDOW - 2 * x) for run in mix if run.length >= x)
        # (1 + n / 8)**-8 approximates exp(-n), whose last bit differs between machines.
        none = 1 / (1 + max(0.0, number) / 8)
        found += 1 - none * none * none * none * none * none * none * none
    return max(1.0, found * WINDOW / STEPS)
