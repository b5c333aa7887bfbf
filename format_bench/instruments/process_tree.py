"""CPU time, memory and reads of a process and of all that it has started.

Linux only: /proc/PID/io and /proc/PID/smaps_rollup (see proc(5)). Children that have ended and were
waited for count with their parents.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.instruments.memory import KIB, number_in

if TYPE_CHECKING:
    import psutil


@dataclass(frozen=True)
class TreeCost:
    """Costs of this process and its descendants so far."""

    cpu_seconds: float
    fetched_bytes: int
    """Bytes that the storage layer fetched for them, read-ahead included."""

    def __sub__(self, earlier: TreeCost) -> TreeCost:
        return TreeCost(
            self.cpu_seconds - earlier.cpu_seconds, self.fetched_bytes - earlier.fetched_bytes
        )


def cost() -> TreeCost:
    """Return the costs of this process and its descendants."""
    return TreeCost(sum(_of_tree(_cpu_seconds)), int(sum(_of_tree(_fetched_bytes))))


def proportional_bytes() -> int:
    """Return the memory of this process and its descendants, pages that they share counted once."""
    return int(sum(_of_tree(_proportional_bytes)))


def descendants(pid: int) -> list[psutil.Process]:
    """Return all living processes that a process has started, and those that these have started."""
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def end_of(processes: Sequence[psutil.Process], limit_seconds: float = 5.0) -> int:
    """Wait for the end of processes; kill those that go on, and return their number."""
    import psutil

    _, left = psutil.wait_procs(processes, timeout=limit_seconds)
    for each in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    return len(left)


def _of_tree(measure: Callable[[psutil.Process], float]) -> Iterator[float]:
    import psutil

    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        # It may end meanwhile.
        with contextlib.suppress(psutil.Error, OSError):
            yield measure(process)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    # Times in /proc/PID/stat are ticks of 10 ms, more than a short epoch takes. Of children that have
    # ended there is nothing better.
    return time.clock_gettime(_cpu_clock(process.pid)) + times.children_user + times.children_system


def _cpu_clock(pid: int) -> int:
    """Return the clock of a process' CPU time, as clock_getcpuclockid(3) does for Linux.

    The two constants are CPUCLOCK_SCHED and the shift of include/linux/posix-timers_types.h.
    """
    return (~pid << 3) | 2


def _fetched_bytes(process: psutil.Process) -> float:
    return number_in(Path(f"/proc/{process.pid}/io"), "read_bytes")


def _proportional_bytes(process: psutil.Process) -> float:
    return number_in(Path(f"/proc/{process.pid}/smaps_rollup"), "Pss") * KIB
