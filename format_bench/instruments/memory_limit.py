"""Limits of the memory of a process, enforced by the kernel where it permits; a guard of a machine's.

A control group limits all memory of its processes, the page cache of their files included, which the
kernel gives back before it kills. Memory from before a process entered, e.g. modules that its parent had
imported, does not count. RLIMIT_AS would not do: Arrow reserves address space that it never uses. Where
no control group can be made, a thread of the process watches the resident memory, and kills the process
beyond the limit.

https://docs.kernel.org/admin-guide/cgroup-v2.html,
https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
"""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from format_bench.instruments.memory import available_bytes, resident_bytes, total_bytes
from format_bench.instruments.process_tree import descendants
from format_bench.system.background import repeated

LOG = logging.getLogger(__name__)

_MOUNT = Path("/sys/fs/cgroup")

# A group is empty milliseconds after its last process; polling costs nothing beside.
_POLL_SECONDS = 0.01

OUT_OF_MEMORY = signal.SIGUSR1
"""Signal by which `largest_ended_below` ends a process, which may write where it was beforehand."""

# A table that is being copied grows by some 2 GB a second.
_GUARD_SECONDS = 0.2
_END_SECONDS = 5.0
# Of the machine's memory: to end a smaller process would help little, since others have it.
_LEAST_SHARE = 0.25

WATCHING = "a thread that watches the resident memory"


@dataclass(frozen=True)
class MemoryLimit:
    """A limit that processes enter; can be pickled."""

    limit_bytes: int
    method: str
    """Who enforces it: "the kernel (cgroup v1)", "the kernel (cgroup v2)", or `WATCHING`."""
    folder: Path | None = None
    """Folder of the control group; None if a thread watches."""

    def enter(self) -> None:
        """Put this process under the limit, for the rest of its life."""
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        else:
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while resident_bytes() <= self.limit_bytes:
            time.sleep(_POLL_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)


def limit_address_space(limit_bytes: int) -> None:
    """Let this process' allocations beyond a size fail, reserved address space included."""
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


@contextmanager
def limited(limit_bytes: int) -> Iterator[MemoryLimit]:
    """Provide a limit for processes that end before the block does.

    Parameters
    ----------
    limit_bytes : int
        Limit of all processes that enter it, together.
    """
    made = _control_group(limit_bytes)
    if made is None:
        yield MemoryLimit(limit_bytes, WATCHING)
        return
    folder, version = made
    try:
        yield MemoryLimit(limit_bytes, f"the kernel (cgroup {version})", folder)
    finally:
        # The kernel refuses while a process that was killed is not yet gone.
        for _ in range(100):
            try:
                folder.rmdir()
                break
            except OSError:
                time.sleep(_POLL_SECONDS)


@contextmanager
def largest_ended_below(least_bytes: int) -> Iterator[None]:
    """End the largest process that this one has started, whenever the machine has less memory left.

    It has a quarter of the machine's at least; else it is other programs that take it.

    The kernel by itself does so only after minutes in which nothing moves: first it gives up the pages
    of programs, and reads them again. The measured process has no thread more for it, which would take
    its time.

    Parameters
    ----------
    least_bytes : int
        Memory that is to stay available.
    """

    def guard() -> None:
        if available_bytes() < least_bytes:
            _end_largest()

    with repeated(guard, _GUARD_SECONDS):
        yield


def _end_largest() -> None:
    import psutil

    sizes = {}
    for each in descendants(os.getpid()):
        with contextlib.suppress(psutil.NoSuchProcess):
            sizes[each] = each.memory_info().rss
    largest = max(sizes, key=sizes.__getitem__, default=None)
    if largest is None or sizes[largest] < _LEAST_SHARE * total_bytes():
        return
    size = sizes[largest] / 1e9
    LOG.warning("ending process %s, which takes %.1f GB: no memory is left", largest.pid, size)
    with contextlib.suppress(psutil.NoSuchProcess):
        largest.send_signal(OUT_OF_MEMORY)
        # The kernel takes a second or two to free so much. Who waits for it gets its status, not we.
        time.sleep(_END_SECONDS)
        largest.kill()


def _control_group(limit_bytes: int) -> tuple[Path, str] | None:
    """Make a control group with a limit below this process' own; return None if that is refused."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, own = line.split(":", 2)
        if controllers == "memory":
            parent, file, version = _MOUNT / "memory", "memory.limit_in_bytes", "v1"
        elif not controllers:
            parent, file, version = _MOUNT, "memory.max", "v2"
        else:
            continue
        for place in (parent / own.lstrip("/"), parent):
            folder = place / f"format-bench-{os.getpid()}-{secrets.token_hex(4)}"
            with contextlib.suppress(OSError):
                folder.mkdir()
                if (folder / file).exists():
                    (folder / file).write_text(str(limit_bytes), encoding="ascii")
                    return folder, version
            with contextlib.suppress(OSError):
                folder.rmdir()
    return None
