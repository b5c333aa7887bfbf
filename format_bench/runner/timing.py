"""Measured share of a run's time, and the time left."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from format_bench.results.records import Key, Record, key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from format_bench.families.cases import Case
    from format_bench.results.suites import Step


# Metrics that are durations of measured calls; a durable save contains the plain one.
TIMES = ("durable save time", "read time")


class MeasuredShare:
    """Adds up the measured calls of a run, from its making on.

    Parameters
    ----------
    earlier : iterable of Record
        Records of earlier runs.
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


MINUTE, HOUR = 60, 3600


class TimeLeft:
    """Learns from each step that ends how long the same step will take in later rounds.

    Parameters
    ----------
    left : iterable of (Case, Step)
        Steps to make, once for each round.
    clock : callable, optional
        Returns seconds.
    """

    def __init__(
        self, left: Iterable[tuple[Case, Step]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left = Counter(left)
        self._clock = clock
        self._seconds: dict[tuple[Case, Step], float] = {}
        self._running: tuple[tuple[Case, Step], float] | None = None

    def begin(self, case: Case, step: Step) -> None:
        """Note the start of a step, which ends the one before."""
        self.end()
        self._left[case, step] -= 1
        self._running = (case, step), self._clock()

    def end(self) -> None:
        """Note the end of the step that started last."""
        if self._running is not None:
            what, start = self._running
            self._seconds[what] = self._clock() - start
            self._running = None

    def text(self) -> str:
        """Return the time left in words; a lower bound while some steps have never been timed."""
        known = sum(self._seconds.get(what, 0) * times for what, times in self._left.items())
        unknown = sum(1 for what, times in self._left.items() if times and what not in self._seconds)
        if self._running is not None and (before := self._seconds.get(self._running[0])):
            known += max(0, before - (self._clock() - self._running[1]))
        if not unknown:
            return f"about {in_words(known)} left"
        steps = f"{unknown} step{'s' if unknown > 1 else ''} not timed yet"
        return f"{steps}, the rest takes {in_words(known)}" if known >= 1 else steps


def in_words(seconds: float) -> str:
    """Return a duration in one unit or two, as in "40 s", "3 min" or "1 h 20 min"."""
    if seconds < 1.5 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR - MINUTE / 2:
        return f"{seconds / MINUTE:.0f} min"
    hours, minutes = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {minutes} min"
