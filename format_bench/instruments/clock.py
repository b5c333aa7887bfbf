"""How long a call takes: wall time and CPU time apart, repeated until stable."""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from format_bench.instruments.intervals import Interval, median_interval, relative_deviation

MIN_REPEATS = 3
MAX_REPEATS = 100
"""Beyond which more samples narrow the median's interval by little, and make records long."""

STABLE_DEVIATION = 0.05
"""Relative standard deviation of the wall times below which repeating ends."""


@dataclass(frozen=True)
class Sample:
    """One call."""

    wall_seconds: float
    """By the monotonic clock."""
    user_seconds: float
    """CPU time in user mode, of all threads and of child processes that ended."""
    sys_seconds: float
    """CPU time in the kernel, likewise."""

    @property
    def cpu_seconds(self) -> float:
        """User and system time together."""
        return self.user_seconds + self.sys_seconds


@dataclass(frozen=True)
class Timing:
    """A call that was repeated."""

    samples: tuple[Sample, ...]
    stopped: Literal["stable", "budget", "enough"]
    """Why repeating ended: the deviation was small enough, the time was used up, or the number."""

    @property
    def wall_seconds(self) -> float:
        """Median wall time."""
        return statistics.median(sample.wall_seconds for sample in self.samples)

    @property
    def cpu_seconds(self) -> float:
        """Median CPU time."""
        return statistics.median(sample.cpu_seconds for sample in self.samples)

    @property
    def wall_interval(self) -> Interval:
        """Interval of the median wall time."""
        return median_interval([sample.wall_seconds for sample in self.samples])


def time_call(step: Callable[[], Any]) -> Sample:
    """Call once, with the garbage collector off.

    What the call returns is dropped after the clock has stopped. A `step` that reads must touch what
    it read, see `format_bench.instruments.touch`.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        user, system = _cpu_seconds()
        start = time.perf_counter()
        result = step()
        wall = time.perf_counter() - start
        user_after, system_after = _cpu_seconds()
    finally:
        if was_on:
            gc.enable()
    del result
    return Sample(wall, user_after - user, system_after - system)


def repeat(
    step: Callable[[], Any],
    budget_seconds: float,
    before: Callable[[], Any] | None = None,
    take: Callable[[Callable[[], Any]], Sample] = time_call,
    least: int = MIN_REPEATS,
) -> Timing:
    """Call a number of times, then until stable, or until the budget or a hundred calls are spent.

    Parameters
    ----------
    step : callable
        What is timed.
    budget_seconds : float
        Wall time after which no further repeat begins; the preparations count.
    before : callable, optional
        Called before each repeat, outside the clock, to remove or evict a file.
    take : callable, optional
        Makes a sample of a call of `step`: `time_call`, or what measures more besides.
    least : int
        Calls that are made in any case. Fewer than three are never called stable.
    """
    start = time.perf_counter()
    samples: list[Sample] = []
    while True:
        if before:
            before()
        samples.append(take(step))
        if len(samples) < least:
            continue
        deviation = relative_deviation([sample.wall_seconds for sample in samples])
        if len(samples) >= MIN_REPEATS and deviation < STABLE_DEVIATION:
            return Timing(tuple(samples), "stable")
        if time.perf_counter() - start > budget_seconds:
            return Timing(tuple(samples), "budget")
        if len(samples) >= MAX_REPEATS:
            return Timing(tuple(samples), "enough")


def _cpu_seconds() -> tuple[float, float]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + children.ru_utime, own.ru_stime + children.ru_stime
