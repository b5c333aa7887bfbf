"""How much of a run's time was measured time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from format_bench.results.records import key
from format_bench.time_left import in_words

if TYPE_CHECKING:
    from format_bench.results.records import Key, Record

TIMES = ("durable save time", "read time")
"""Metrics that are durations of measured calls; a durable save contains the plain one."""


class Stopwatch:
    """Adds up the measured calls of a run, from its making on.

    Parameters
    ----------
    earlier : iterable of Record
        What earlier runs have measured of the same cells.
    clock : callable, optional
        Returns seconds.
    """

    def __init__(self, earlier: Iterable[Record], clock: Callable[[], float] = time.monotonic) -> None:
        self._taken: dict[Key, float] = {key(each): sum(each.repeats) for each in earlier}
        self._clock, self._start = clock, clock()
        self.measured_seconds = 0.0

    def add(self, record: Record) -> None:
        """Add the samples that a cell has more than before."""
        if record.metric in TIMES:
            taken = sum(record.repeats)
            self.measured_seconds += max(0.0, taken - self._taken.get(key(record), 0.0))
            self._taken[key(record)] = taken

    @property
    def spent_seconds(self) -> float:
        """Wall time so far."""
        return self._clock() - self._start

    def text(self) -> str:
        """Return measured time, wall time and their ratio in words."""
        spent = self.spent_seconds
        share = self.measured_seconds / spent if spent else 0.0
        return f"measured {in_words(self.measured_seconds)} of {in_words(spent)}: {share:.2f}"
