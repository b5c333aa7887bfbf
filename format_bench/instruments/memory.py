"""Memory growth of a process during a call, and memory held afterwards.

The high-water mark of the resident memory, VmHWM, is reset by writing 5 to /proc/self/clear_refs
(proc(5)) just before the call. Threads share their process' memory and so count. Of the child processes
the largest one is added, once it has ended.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# The kernel counts in KiB: getrusage(2), proc(5).
KIB = 1024

_STATUS = Path("/proc/self/status")
_MACHINE = Path("/proc/meminfo")

IS_MEASURED = _STATUS.exists()

NOT_MEASURED = f"growth of memory is read from {_STATUS}, which Linux alone has"
"""Reason of a missing growth unless `IS_MEASURED`."""


@dataclass(frozen=True)
class Growth:
    """Memory growth of a process during a call."""

    peak_bytes: int
    """Peak of the resident memory during the call, less the resident memory before."""
    held_bytes: int
    """Resident memory after the call and a garbage collection, its result alive, less that before."""
    process_peak_bytes: int
    """Peak of the resident memory of the process from its start to the end of the call."""
    method: str
    """"VmHWM", or "ru_maxrss" where the kernel refuses to reset the mark: then it is the peak of the
    whole life of the process, and growth below an earlier peak is not seen."""


class Meter:
    """Meter of the memory growth since its construction, for calls that are made elsewhere."""

    def __init__(self) -> None:
        release_free_memory()
        self._earlier_peak = peak_bytes()
        self._children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self._method = "VmHWM" if reset_peak() else "ru_maxrss"
        self._before = _status_bytes("VmRSS")

    def growth(self) -> Growth:
        """Return the growth since construction; objects that are still alive count as held."""
        peak = _status_bytes("VmHWM") if self._method == "VmHWM" else _max_resident_bytes()
        child_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        # ru_maxrss is the largest child ever: only a larger one than before belongs to this call.
        of_children = child_peak * KIB if child_peak > self._children else 0
        release_free_memory()
        held = _status_bytes("VmRSS") - self._before
        return Growth(
            peak_bytes=max(0, peak - self._before) + of_children,
            held_bytes=max(0, held),
            process_peak_bytes=max(self._earlier_peak, peak),
            method=self._method,
        )


class FirstGrowth:
    """Context manager that measures the memory growth of the first block it is used for.

    Only the first call finds fresh memory: later ones reuse memory that the process has kept.
    """

    def __init__(self) -> None:
        self._growth: Growth | None = None
        self._meter: Meter | None = None

    @property
    def growth(self) -> Growth:
        """Growth during the first block.

        Raises
        ------
        RuntimeError
            If no block has ended, or nothing is measured here.
        """
        if self._growth is None:
            raise RuntimeError("no block has been measured")
        return self._growth

    def __enter__(self) -> Self:
        self._meter = Meter() if self._growth is None and IS_MEASURED else None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._meter and kind is None:
            self._growth = self._meter.growth()


def peak_bytes() -> int:
    """Return the peak of the resident memory of this process since its start, or since a reset."""
    return _status_bytes("VmHWM")


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return _status_bytes("VmRSS")


def available_bytes() -> int:
    """Return the memory of this machine that programs can still get without swapping."""
    return number_in(_MACHINE, "MemAvailable") * KIB


def total_bytes() -> int:
    """Return the memory of this machine."""
    return number_in(_MACHINE, "MemTotal") * KIB


def measure(step: Callable[[], Any]) -> tuple[Growth, Any]:
    """Call once; return the memory growth and the result.

    Meant for a fresh process: memory that the process has freed but kept would be reused without a
    trace.
    """
    meter = Meter()
    result = step()
    return meter.growth(), result


def reset_peak() -> bool:
    """Reset the high-water mark of the resident memory; return whether the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _status_bytes(field: str) -> int:
    """Return a size in bytes from /proc/self/status."""
    return number_in(_STATUS, field) * KIB


def number_in(path: Path, field: str) -> int:
    """Return the number of a field of a file in /proc, in the file's unit.

    Raises
    ------
    OSError
        If there is no such field, or no such file.
    """
    for line in path.read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise OSError(f"{path} has no {field}")


def _max_resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def release_free_memory() -> None:
    """Collect garbage and return freed memory to the kernel."""
    gc.collect()
    # Allocators keep freed memory unless asked: Arrow's pool, and glibc's arenas.
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):  # glibc alone
        libc.malloc_trim(0)
