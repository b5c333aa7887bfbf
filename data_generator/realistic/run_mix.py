"""Lengths of runs of which windows have longer ones than chance gives runs of that mean.

Sums of floats are those of `math.fsum`, which are exact; those of `sum` depend on Python's version.
"""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

from data_generator.spec import WINDOW

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
