"""Locks between processes: flock(2) on files and folders.

The kernel releases such a lock when the last process that has its descriptor open ends, also after
SIGKILL. docs/decisions/0008-locks-on-folders-and-descriptors.md has the reasons for no library.
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
