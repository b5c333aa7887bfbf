"""Disk with one head as a plug-in of nbdkit: seeks and a transfer rate, on a file.

nbdkit runs it by Debian's own Python, so it imports the standard library alone. It obeys one request
after the other, as a disk without command queueing does.

Model: a request that starts further than 1 MiB from the end of the one before costs a seek; each costs
its bytes by the rate. Nearer blocks come from the disk's buffer. A request that continues the one
before loses no time in between, up to a limit: a disk reads ahead while the computer thinks.

Parameters of nbdkit: file, seek_seconds, bytes_per_second, and counts: a file that gets the number of
seeks for reads as 8 bytes.
"""

from __future__ import annotations

import os
import struct
import time

API_VERSION = 2

NEAR_BYTES = 1 << 20

# The most time that reading ahead saves between two requests in order.
AHEAD_SECONDS = 0.002

_parameters: dict[str, str] = {}


class _Disk:
    """State of the disk: the file, the place of the head, and the end of the last request."""

    def __init__(self, path: str, counts: str, seek_seconds: float, bytes_per_second: float) -> None:
        self.descriptor = os.open(path, os.O_RDWR)
        self._counts, self._seeks = os.open(counts, os.O_RDWR | os.O_CREAT, 0o644), 0
        self._seek_seconds, self._bytes_per_second = seek_seconds, bytes_per_second
        self._head, self._free = 0, 0.0

    def wait(self, size: int, place: int, *, is_read: bool = True) -> None:
        """Wait as long as the disk takes for a request; count its seek."""
        seconds = size / self._bytes_per_second
        now = time.perf_counter()
        if abs(place - self._head) > NEAR_BYTES:
            start = max(self._free, now)
            seconds += self._seek_seconds
            self._seeks += is_read
            os.pwrite(self._counts, struct.pack("<Q", self._seeks), 0)
        else:
            start = max(self._free, now - AHEAD_SECONDS)
        self._head, self._free = place + size, start + seconds
        while (left := self._free - time.perf_counter()) > 0:
            time.sleep(left)


_disk: list[_Disk] = []


def config(key: str, value: str) -> None:
    """Take a parameter."""
    _parameters[key] = value


def config_complete() -> None:
    """Open the file when all parameters are known."""
    rates = float(_parameters["seek_seconds"]), float(_parameters["bytes_per_second"])
    _disk.append(_Disk(_parameters["file"], _parameters["counts"], *rates))


def thread_model() -> int:
    """Return nbdkit's model of one request at a time."""
    import nbdkit  # type: ignore[import-not-found]  # exists inside nbdkit alone

    model: int = nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS
    return model


def open(readonly: bool) -> _Disk:  # noqa: A001, ARG001, FBT001 (names and signature are nbdkit's)
    """Return the disk for a new connection."""
    return _disk[0]


def get_size(disk: _Disk) -> int:
    """Return the size in bytes."""
    return os.fstat(disk.descriptor).st_size


def pread(disk: _Disk, buffer: bytearray, place: int, flags: int) -> None:  # noqa: ARG001 (nbdkit's)
    """Read, and wait as long as the disk takes."""
    data = os.pread(disk.descriptor, len(buffer), place)
    disk.wait(len(buffer), place)
    buffer[:] = data


def pwrite(disk: _Disk, buffer: bytes, place: int, flags: int) -> None:  # noqa: ARG001 (nbdkit's)
    """Write, and wait as long as the disk takes."""
    os.pwrite(disk.descriptor, buffer, place)
    disk.wait(len(buffer), place, is_read=False)


def flush(disk: _Disk, flags: int) -> None:
    """Do nothing: the writes have already cost their time."""
