"""Locks between processes: flock(2) on files and folders.

The kernel releases such a lock when the last process that has its descriptor open ends, also after
SIGKILL. docs/decisions/0008-locks-on-folders-and-descriptors.md has the reasons for no library.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

# In memory, so never on a network's file system, where hosts would share it. A run with its
# scratch folder there removes what starts with "format-bench-" and is not locked.
HOST_LOCK = Path("/dev/shm/formatbench-host.lock")  # noqa: S108 (its name is meant to be known to all)


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


def lock_host(path: Path = HOST_LOCK) -> int:
    """Wait until no other process measures on this host, and lock it for this one.

    Parameters
    ----------
    path : Path
        The file that all processes of the host lock; made if missing, for all users.

    Returns
    -------
    int
        A descriptor; closing it, or the end of the process, releases the lock.
    """
    try:
        # Not opened for creation if it exists: kernels refuse that for files of other users.
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o444)
        os.fchmod(descriptor, 0o444)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor
