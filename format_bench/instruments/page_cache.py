"""Page cache: share of a file in it, eviction with proof, and bytes that a process reads.

Linux only: posix_fadvise(2), mincore(2), /proc/self/io (see proc(5)).
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import NotColdError

# A page that a library's read-ahead is still filling, or that waits in a list of another CPU, is not
# dropped at once.
_EVICTIONS = 4
_PAUSE_SECONDS = 0.01


@dataclass(frozen=True)
class ReadCounters:
    """Reads of a process so far, all its threads together."""

    asked_bytes: int
    """Bytes that read(2) and similar calls returned, without reads through memory maps."""
    fetched_bytes: int
    """Bytes that the storage layer fetched for this process, read-ahead included."""
    calls: int
    """Calls of read(2), pread(2) and the like."""

    def __sub__(self, earlier: ReadCounters) -> ReadCounters:
        return ReadCounters(
            self.asked_bytes - earlier.asked_bytes,
            self.fetched_bytes - earlier.fetched_bytes,
            self.calls - earlier.calls,
        )


def read_counters() -> ReadCounters:
    """Return the counters of this process."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    facts = dict(line.split(": ") for line in lines)
    return ReadCounters(*(int(facts[name]) for name in ("rchar", "read_bytes", "syscr")))


def files_of(path: Path) -> Iterator[Path]:
    """Yield the file, or all files below the directory."""
    if path.is_dir():
        yield from sorted(Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    else:
        yield path


def resident_bytes(path: Path) -> int:
    """Return the number of bytes of a file, or of all files of a directory, in the page cache.

    Whole pages are counted, so a small file may have more resident bytes than bytes.
    """
    return sum(_resident_pages(file) for file in files_of(path)) * mmap.PAGESIZE


def read_ahead_bytes(path: Path) -> int | None:
    """Return the most that the kernel reads ahead from the device of a path; None if it is unknown."""
    device = path.stat().st_dev
    setting = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    try:
        return int(setting.read_text(encoding="ascii")) * 1024
    except OSError:
        return None


def resident_share(path: Path) -> float:
    """Return the share of pages, from 0 to 1, that are in the page cache; 0 for empty files."""
    pages = sum(-(-file.stat().st_size // mmap.PAGESIZE) for file in files_of(path))
    return resident_bytes(path) / (pages * mmap.PAGESIZE) if pages else 0.0


def fill(path: Path) -> None:
    """Bring a file, or all files of a directory, into the page cache."""
    # Through one small buffer: a large one would leave its memory to the next call.
    buffer = bytearray(1 << 20)
    for each in files_of(path):
        with each.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def make_cold(path: Path) -> None:
    """Evict a file, or all files of a directory, and prove that no page is left.

    Raises
    ------
    NotColdError
        If a page is still there, e.g. on a file system that keeps its files in memory; the message
        names the file and the number of its pages. Or if the system cannot evict files.
    """
    if not hasattr(os, "posix_fadvise"):
        raise NotColdError(
            "Linux alone evicts a file from the page cache and proves it, so that no read is cold"
        )
    for file in files_of(path):
        left = _resident_pages(file)
        for attempt in range(_EVICTIONS):
            # Only then: of the thousands of files of a chunked array a query reads few.
            if not left:
                break
            if attempt:
                time.sleep(attempt * _PAUSE_SECONDS)
            # Each fsync waits for the device, and files that were saved some time ago are written.
            _evict(file, is_dirty=attempt > 0)
            left = _resident_pages(file)
        if left:
            pages = -(-file.stat().st_size // mmap.PAGESIZE)
            raise NotColdError(f"{left:,} of {pages:,} pages of {file.name} stay in the page cache")


def sync(path: Path) -> None:
    """Wait until a file, or all files of a directory and the directory, are on the device.

    The parent folder is synchronised too: a new name is durable only with its folder.
    """
    for file in (*files_of(path), *([path] if path.is_dir() else []), path.parent):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _evict(file: Path, *, is_dirty: bool) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        if is_dirty:
            # Dirty pages cannot be dropped, so they are written first.
            os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def page_states(file: Path) -> bytes:
    """Return a byte for each page of a file; its lowest bit is 1 if the page is in the page cache.

    Raises
    ------
    NotColdError
        If the kernel does not answer.
    """
    # Without a file object: arrays of small chunks have a hundred thousand files.
    descriptor = os.open(file, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        return _mapped_page_states(descriptor, size, file.name) if size else b""
    finally:
        os.close(descriptor)


def _resident_pages(file: Path) -> int:
    return sum(state & 1 for state in page_states(file))


def _mapped_page_states(descriptor: int, size: int, name: str) -> bytes:
    # Copy-on-write, because ctypes takes the address of writable buffers only. Mapping a file does not
    # bring its pages into memory: only touching them does.
    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY) as pages:
        states = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
        first = ctypes.c_char.from_buffer(pages)
        failed = _libc().mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), states)
        del first
        if failed:
            reason = os.strerror(ctypes.get_errno())
            raise NotColdError(f"the cached pages of {name} could not be counted: {reason}")
        return bytes(states)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
