"""Locks between processes: flock(2) on files and folders.

The kernel releases such a lock when the last process that has its descriptor open ends, also after
SIGKILL. docs/decisions/0008-locks-on-folders-and-descriptors.md has the reasons for no library.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapter_core.credentials import without_secrets
from adapter_core.text import printable

# In memory, so never on a network's file system, where hosts would share it. A run with its
# scratch folder there removes what starts with "format-bench-" and is not locked.
HOST_LOCK = Path("/dev/shm/formatbench-host.lock")  # noqa: S108 (its name is meant to be known to all)

# How long a process waits for another one that measures; a cell seldom takes longer.
HOLDER_SECONDS = 3600.0

# Waiting is for a run of minutes or hours: nobody notices.
_POLL_SECONDS = 0.2

# Of a command line in a message.
_COMMAND_LENGTH = 100


def lock(path: Path) -> int:
    """Lock a file or folder exclusively, without waiting.

    Parameters
    ----------
    path : Path
        A file or folder that exists.

    Returns
    -------
    int
        A descriptor; closing it releases the lock, unless a child process has inherited it.

    Raises
    ------
    BlockingIOError
        If another process has the lock.
    FileNotFoundError
        If the path does not exist.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


@dataclass(frozen=True)
class HostLock:
    """The lock of the host, or why it was not obtained."""

    descriptor: int | None
    """Closing it, or the end of all processes that have it, releases the lock; None without the lock."""
    remark: str = ""
    """Why this process measures without the lock, beside another one perhaps; empty with the lock."""


def lock_host(
    path: Path = HOST_LOCK,
    holder_seconds: float = HOLDER_SECONDS,
    say: Callable[[str], None] = lambda _: None,
) -> HostLock:
    """Wait until no other process measures on this host, and lock it for this one.

    Any user of the host can hold the lock for ever, so the wait for one holder ends after a time.

    Parameters
    ----------
    path : Path
        The file that all processes of the host lock; made if missing, for all users.
    holder_seconds : float
        How long to wait for one holder.
    say : callable
        Called with a line about each holder that is waited for.
    """
    try:
        descriptor = _open_for_all(path)
    except OSError as error:
        return HostLock(None, f"measured without {path}, which cannot be locked: {error.strerror}")
    holder, end = None, time.monotonic() + holder_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            found = _holder(descriptor)
        else:
            return HostLock(descriptor)
        if found != holder:
            holder, end = found, time.monotonic() + holder_seconds
            minutes = f"{holder_seconds / 60:.0f} minutes"
            say(f"waiting for {_described(found)}, which has {path}; going on after {minutes}")
        if time.monotonic() >= end:
            os.close(descriptor)
            return HostLock(None, f"measured beside {_described(found)}, which did not release {path}")
        time.sleep(_POLL_SECONDS)


def _open_for_all(path: Path) -> int:
    """Open a file in a folder where others can put any file under its name."""
    # A link could lead anywhere, and opening a pipe would wait for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        # Not opened for creation if it exists: kernels refuse that for files of other users.
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        try:
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o444)
        except FileExistsError:
            return os.open(path, flags)  # another process has just made it
        os.fchmod(descriptor, 0o444)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def _holder(descriptor: int) -> int | None:
    """Return the process that has locked an open file; None if the kernel does not report it."""
    file = os.fstat(descriptor)
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        # As in "1: FLOCK  ADVISORY  WRITE 4711 00:19:42 0 EOF"; waiting ones have an arrow after "1:".
        _, kind, _, _, process, place, *_ = [*line.split(), *[""] * 7]
        if kind == "FLOCK" and place.rpartition(":")[2] == str(file.st_ino):
            return int(process)
    return None


def _described(process: int | None) -> str:
    """Return number, user and command of a process, as far as this user may know them."""
    if process is None:
        return "another process"
    place = Path(f"/proc/{process}")
    try:
        user_id = place.stat().st_uid
        words = place.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return f"process {process}"
    try:
        user = pwd.getpwuid(user_id).pw_name
    except KeyError:
        user = str(user_id)
    command = printable(without_secrets(" ".join(words).strip()))[:_COMMAND_LENGTH]
    return f"process {process} of user {user} ({command or 'no command'})"
