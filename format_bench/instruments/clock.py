"""Stopwatch for wall and CPU time, and repeats until the median is known well enough."""

from __future__ import annotations

import gc
import math
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from format_bench.instruments.intervals import CONFIDENCE, median_interval

# A median needs three: of two calls it is their mean, which one disturbance moves.
MIN_REPEATS = 3

# More samples hardly narrow the median's interval, and make records long.
MAX_REPEATS = 100

# Later calls that suffice without the first one.
FEWEST_LATER = 2

# Width of the interval of the median, relative to the median, below which repeating ends.
STABLE_WIDTH = 0.05

# Steps of the reference loop, about 3 ms: long beside the clock's resolution, short beside a turn that
# the scheduler gives a process.
LOOP_STEPS = 40_000

# Age of the loop's times at which it runs again: 3 ms in 100 ms are at most 3 % of a measurement, and a
# virtual machine's speed was seen to change within seconds.
LOOP_INTERVAL_SECONDS = 0.1


class Closable(Protocol):
    """An open file or reader."""

    def close(self) -> None:
        """Close it."""


@dataclass(frozen=True)
class Sample:
    """Times of one call."""

    wall_seconds: float
    """Wall time by the monotonic clock."""
    user_seconds: float
    """CPU time in user mode, of all threads and of child processes that have ended."""
    sys_seconds: float
    """CPU time in the kernel, of the same threads and processes."""
    loop_wall_seconds: float = 0.0
    """Wall time of the reference loop, at most 0.1 seconds before the call; 0 if it did not run."""
    loop_cpu_seconds: float = 0.0
    """CPU time of the same."""

    @property
    def cpu_seconds(self) -> float:
        """User and system time together."""
        return self.user_seconds + self.sys_seconds


class ReferenceLoop:
    """Fixed arithmetic whose times show the speed of the machine at the moment.

    Neighbours on the host of a virtual machine slow the loop and the calls beside it alike.
    """

    def __init__(self) -> None:
        self._times, self._end = (0.0, 0.0), -math.inf

    def times(self) -> tuple[float, float]:
        """Return wall and CPU seconds of the loop, which runs if it has not just done so."""
        if time.perf_counter() - self._end > LOOP_INTERVAL_SECONDS:
            # Of this thread: libraries' threads may still be busy.
            wall, cpu = time.perf_counter(), time.thread_time()
            value = 1
            for _ in range(LOOP_STEPS):
                value = (value * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
            self._times = time.perf_counter() - wall, time.thread_time() - cpu
            self._end = time.perf_counter()
        return self._times


_LOOP = ReferenceLoop()


class TimeOnClock:
    """Wall time of all blocks, reads and openings that a process has timed, kept as samples or not.

    The time of the processes in which it has measured (`format_bench.instruments.isolation`) counts.
    """

    def __init__(self) -> None:
        self.seconds = 0.0


ON_CLOCK = TimeOnClock()


class Stopwatch:
    """Context manager that times its block, with the garbage collector off.

    The reference loop runs before the block, unless it has just done so.

    Each block appends a sample to `samples`, unless it raises. Free large results after the block, not
    in it, and touch lazy ones in it (`format_bench.instruments.touch`).

    Attributes
    ----------
    samples : list of Sample
        The times of all blocks.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._collects_garbage = True
        self._cpu = (0.0, 0.0)
        self._loop = (0.0, 0.0)
        self._wall = 0.0

    @property
    def last(self) -> Sample:
        """Sample of the last block."""
        return self.samples[-1]

    def __enter__(self) -> Self:
        self._loop = _LOOP.times()
        self._collects_garbage = gc.isenabled()
        gc.disable()
        self._cpu = _cpu_seconds()
        self._wall = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        wall = time.perf_counter() - self._wall
        user, system = _cpu_seconds()
        ON_CLOCK.seconds += wall
        if self._collects_garbage:
            gc.enable()
        if kind is None:
            self.samples.append(Sample(wall, user - self._cpu[0], system - self._cpu[1], *self._loop))


def first_calls(samples: int, min_repeats: int) -> int:
    """Return the number of first samples that do not count: 1 if enough others follow, else 0."""
    return int(samples > max(min_repeats, FEWEST_LATER))


def time_call(step: Callable[[], Any]) -> Sample:
    """Call once and return the times; the result of the call is freed outside the clock."""
    stopwatch = Stopwatch()
    with stopwatch:
        result = step()
    del result
    return stopwatch.last


def turns(
    end: float, min_repeats: int = MIN_REPEATS, patience_seconds: float = math.inf
) -> Iterator[int]:
    """Yield the numbers of turns until a time, but of few ones until later.

    Parameters
    ----------
    end : float
        Value of `time.perf_counter`.
    min_repeats : int
        The least number of turns.
    patience_seconds : float
        Time after the end when not even these follow the first.
    """
    for turn in range(MAX_REPEATS):
        over_seconds = time.perf_counter() - end
        if over_seconds > (0 if turn >= min_repeats else patience_seconds) and turn:
            return
        yield turn


def seconds_per_item(
    read: Callable[[Sequence[Any]], object], batches: Iterable[Sequence[Any]], budget_seconds: float
) -> float:
    """Return the wall seconds per item of reading batches of items, until all are read or time is spent.

    Parameters
    ----------
    read : callable
        Reads a batch.
    batches : iterable of sequences
        Batches of items, e.g. numbers of images; made before the clock starts unless they cost nothing.
    budget_seconds : float
        Wall time after which no further call starts.
    """
    done = 0
    start = now = time.perf_counter()
    for each in batches:
        read(each)
        done += len(each)
        now = time.perf_counter()
        if now - start > budget_seconds:
            break
    ON_CLOCK.seconds += now - start
    return (now - start) / max(1, done)


def open_seconds(open_file: Callable[[], Closable], budget_seconds: float) -> list[float]:
    """Return the wall seconds of opening a file, of three times or more.

    Parameters
    ----------
    open_file : callable
        Opens the file; the result is closed outside the clock.
    budget_seconds : float
        A third of the wall time after which no time beyond the third starts.
    """
    samples: list[float] = []
    for _ in turns(time.perf_counter() + MIN_REPEATS * budget_seconds):
        start = time.perf_counter()
        reader = open_file()
        samples.append(time.perf_counter() - start)
        ON_CLOCK.seconds += samples[-1]
        reader.close()
    return samples[first_calls(len(samples), MIN_REPEATS) :]


@dataclass(frozen=True)
class Effort:
    """Limits of the repeats of one step, or of steps in turn, in one process."""

    budget_seconds: float
    """Wall time after which no further repeat starts."""
    min_repeats: int
    """The least number of repeats."""
    round_number: int = 0
    """Number of processes that measured the same before. Of steps in turn, the other one starts."""
    limit_seconds: float = math.inf
    """Wall time after which no further query starts, so that the process ends before it is ended."""


class Repeats:
    """Loop that repeats a timed block until the interval of its median is narrow or its budget is spent.

    Each pass gets a stopwatch and times one block with it. Preparations in the same pass are outside
    the clock, but count against the budget.

    The first call of a process finds fresh memory, and takes up to 1.7 times as long as later ones
    (`format-bench study samples`). So its sample is dropped once there are enough others.

    Parameters
    ----------
    budget_seconds : float
        Wall time after which no further pass starts.
    min_repeats : int
        The least number of passes. Fewer than six are never stable: their interval does not cover the
        median with 95 %.

    Attributes
    ----------
    samples : list of Sample
        The times of all passes; at the end without the first, if it was dropped.
    stopped : str
        The reason for the end: the interval of the median was narrow ("stable"), the "budget" was spent,
        or a hundred samples were "enough". Empty before.

    Examples
    --------
    >>> repeats = Repeats(budget_seconds=0.5)
    >>> for stopwatch in repeats:
    ...     path.unlink(missing_ok=True)
    ...     with stopwatch:
    ...         df.to_parquet(path)
    """

    def __init__(self, budget_seconds: float, min_repeats: int = MIN_REPEATS) -> None:
        self._budget_seconds = budget_seconds
        self._min_repeats = min_repeats
        self._stopwatch = Stopwatch()
        self.samples = self._stopwatch.samples
        self.stopped: Literal["", "stable", "budget", "enough"] = ""

    def __iter__(self) -> Iterator[Stopwatch]:
        """Yield the stopwatch of each pass.

        Raises
        ------
        RuntimeError
            If a pass has not timed exactly one block.
        """
        start = time.perf_counter()
        passes = 0
        while not self.stopped:
            yield self._stopwatch
            passes += 1
            if len(self.samples) != passes:
                raise RuntimeError(f"pass {passes} of the loop has not timed one block")
            self.stopped = self._reason_to_stop(time.perf_counter() - start)
        del self.samples[: first_calls(len(self.samples), self._min_repeats)]

    def _reason_to_stop(self, spent_seconds: float) -> Literal["", "stable", "budget", "enough"]:
        if len(self.samples) < self._min_repeats:
            return ""
        interval = median_interval([sample.wall_seconds for sample in self.samples])
        width = interval.high - interval.low
        if interval.confidence >= CONFIDENCE and width <= STABLE_WIDTH * self.wall_seconds:
            return "stable"
        if spent_seconds > self._budget_seconds:
            return "budget"
        return "enough" if len(self.samples) >= MAX_REPEATS else ""

    @property
    def wall_seconds(self) -> float:
        """Median wall time."""
        return statistics.median(sample.wall_seconds for sample in self.samples)

    @property
    def cpu_seconds(self) -> float:
        """Median CPU time."""
        return statistics.median(sample.cpu_seconds for sample in self.samples)


def _cpu_seconds() -> tuple[float, float]:
    """Return user and system time of this process and of its children that have ended."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + children.ru_utime, own.ru_stime + children.ru_stime
