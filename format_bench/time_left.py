"""How long a run will still take, as far as can be told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.cases import Case, Step

MINUTE, HOUR = 60, 3600


class TimeLeft:
    """Learns from each step that ends how long the same step will take in later rounds.

    Parameters
    ----------
    left : iterable of (Case, Step)
        What is to be made, once for each round.
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
        """Note that a step begins, which ends the one before."""
        self.end()
        self._left[case, step] -= 1
        self._running = (case, step), self._clock()

    def end(self) -> None:
        """Note that the step that began last has ended."""
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
