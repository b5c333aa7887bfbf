"""Locks between processes: flock(2) on files and folders.

The kernel releases such a lock when the last process that has its descriptor open ends, also after
SIGKILL. The package filelock is not used, since three things are needed that its path locks lack: a
lock on a folder itself, which leaves no lock file in a user's results; a descriptor that child
processes inherit; and a release by closing alone, which keeps the lock while children run. Its locks on
descriptors do all this, but need a version (3.30) that no library set of the past can contain.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


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
