"""How much a process grows during a call, and how much it holds afterwards.

The high-water mark of the resident memory, VmHWM, is set back by writing 5 to /proc/self/clear_refs
(proc(5)) just before the call. Threads share their process' memory and so count. Of child processes the
largest one is added, once it has ended.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KIB = 1024


@dataclass(frozen=True)
class Growth:
    """What a call cost in memory."""

    peak_bytes: int
    """Peak of the resident memory during the call, less what was resident before."""
    held_bytes: int
    """Resident memory after the call and a garbage collection, its result alive, less that before."""
    method: str
    """"VmHWM", or "ru_maxrss" where the kernel refuses to set the mark back: then the peak is that of
    the whole life of the process, and growth below an earlier peak is not seen."""


class Meter:
    """Measures from its making to `growth`: for calls that are made elsewhere."""

    def __init__(self) -> None:
        _give_back()
        self._children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self._method = "VmHWM" if _reset_peak() else "ru_maxrss"
        self._before = _status("VmRSS")

    def growth(self) -> Growth:
        """Return what was done since cost; what it has left alive counts as held."""
        peak = _status("VmHWM") if self._method == "VmHWM" else _max_resident_bytes()
        child_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        of_children = child_peak * KIB if child_peak > self._children else 0
        _give_back()
        held = _status("VmRSS") - self._before
        return Growth(max(0, peak - self._before) + of_children, max(0, held), self._method)


def measure(step: Callable[[], Any]) -> tuple[Growth, Any]:
    """Call once; return what it cost in memory, and its result.

    To be meant for a fresh process: memory that the process has freed but kept would be used again
    without a trace.
    """
    meter = Meter()
    result = step()
    return meter.growth(), result


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _status(field: str) -> int:
    """Return a size in bytes from /proc/self/status."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * KIB
    raise OSError(f"/proc/self/status has no {field}")


def _max_resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def _give_back() -> None:
    """Collect garbage and hand freed memory back to the kernel, which allocators do only by request."""
    gc.collect()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
