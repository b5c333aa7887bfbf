"""Lease of a measurement on its folder in a bucket: the folder's marker, written again and again.

The marker proves that the folder is the benchmark's own, and its age tells whether the measurement that
made it is alive. As the measurement writes it again, a folder that was removed too early can still be
found, with what was written there afterwards.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import ObjectStoreError
from adapter_core.text import printable

if TYPE_CHECKING:
    from adapter_core import RemoteFile
    from format_bench.network.bucket import Bucket

MARKER = ".format-bench"
"""Name of the object that marks a folder as the benchmark's own."""

REFRESH_SECONDS = 60.0
"""Time between two writes of a marker: requests that disturb no measurement of seconds."""

LIVE_SECONDS = 900.0
"""Age of a marker from which on its measurement counts as ended, e.g. killed on another machine.

Fifteen writes may fail before: a server or a line can be away for minutes.
"""

_CONTENT = {"program": "format-bench", "remove with": "format-bench clean"}


@dataclass(frozen=True)
class Holder:
    """Process that measures in a folder."""

    user: str
    host: str
    """Name of the machine."""
    kernel: str
    """Id of the running kernel and of the process namespace, where the number of a process means one."""
    process: int
    start: int
    """Start of the process in ticks since the kernel's start."""
    since: str
    """Time in UTC, ISO 8601."""

    @classmethod
    def here(cls) -> Holder:
        """Return this process."""
        process = os.getpid()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        name, start = os.uname().nodename, _start_time_of(process) or 0
        return cls(_user(), name, _kernel(), process, start, since)

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended; on another machine that is not known."""
        return self.kernel == _kernel() and _start_time_of(self.process) != self.start

    def __str__(self) -> str:
        """Return who measures where since when, in words."""
        return printable(f"process {self.process} of {self.user} on {self.host}, since {self.since}")


@dataclass(frozen=True)
class Lease:
    """Marker of a folder, as a server has it."""

    holder: Holder | None
    """None in a folder of a version without leases."""
    age_seconds: float

    @property
    def is_live(self) -> bool:
        """Whether a measurement may still write to the folder."""
        has_ended = self.holder is None or self.holder.has_ended
        return not has_ended and self.age_seconds < LIVE_SECONDS


def write(bucket: Bucket, folder_key: str, holder: Holder) -> None:
    """Write the marker of a folder.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    bucket.put(f"{folder_key}/{MARKER}", json.dumps({**_CONTENT, "holder": asdict(holder)}).encode())


def read(bucket: Bucket, key: str) -> Lease | None:
    """Return the lease that an object of a marker's name contains; None if it is no marker.

    Raises
    ------
    ObjectStoreError
        If the server refuses or cannot be reached.
    """
    body, headers = bucket.get(key)
    try:
        facts = json.loads(body)
        found = facts.pop("holder", None)
        holder = Holder(**found) if found else None
    except (ValueError, TypeError, AttributeError):
        return None
    return Lease(holder, _age(headers)) if facts == _CONTENT else None


def _age(headers: dict[str, str]) -> float:
    """Return the age of an object by the clock of its server, as clocks of two machines may differ."""
    try:
        now, modified = (parsedate_to_datetime(headers[each]) for each in ("date", "last-modified"))
    except (KeyError, ValueError):
        raise ObjectStoreError("the server sends no date with an object, unlike one of S3") from None
    return (now - modified).total_seconds()


@contextmanager
def kept_alive(bucket: Bucket, folder: RemoteFile) -> Iterator[None]:
    """Write the marker of a folder of this process again and again until the end of the block."""
    ended = threading.Event()
    holder = Holder.here()

    def refresh() -> None:
        while not ended.wait(REFRESH_SECONDS):
            # A server that cannot be reached for a while is the measurement's own affair.
            with contextlib.suppress(ObjectStoreError):
                write(bucket, folder.key, holder)

    thread = threading.Thread(target=refresh, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        # Else it might write the marker of a folder that has just been removed.
        thread.join()


def _start_time_of(process: int) -> int | None:
    """Return the start of a process in ticks since the machine's; None if it has ended."""
    with contextlib.suppress(OSError):
        # After the name in brackets, which may contain spaces.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return None if fields[0] in {"Z", "X"} else int(fields[19])
    return None


def _kernel() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
