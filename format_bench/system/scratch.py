"""Folders for files that nobody needs after a process, removed even if that was killed.

Each is locked as long as its process lives. A later process removes those that are not.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from format_bench.system.locks import lock
from format_bench.system.signals import EndingSignals

_PREFIX = "format-bench-"

# Much longer than a process needs from making a folder until it has locked it.
_LOCKED_AFTER_SECONDS = 60.0

# A killed process ends when its system call does, in milliseconds.
_DYING_SECONDS = 0.1


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Give a new folder in `parent`, which is removed with its contents at the end."""
    with ExitStack() as stack:
        # A signal that waits for the end of this block finds the folder's removal prepared.
        with EndingSignals.held():
            new = Path(tempfile.mkdtemp(dir=parent, prefix=f".{_PREFIX}"))
            descriptor = lock(new)
            stack.callback(os.close, descriptor)
            # Under its final name, it would be taken for an abandoned one before it is locked.
            folder = new.rename(parent / new.name.removeprefix("."))
            stack.callback(_remove, folder)
        yield folder


def remove_abandoned(parent: Path) -> None:
    """Remove this user's scratch folders in `parent` whose processes were killed."""
    for left in (*parent.glob(f"{_PREFIX}*"), *parent.glob(f".{_PREFIX}*")):
        try:
            found = left.lstat()
        except FileNotFoundError:
            continue  # another process has just removed it
        # A folder for all users, such as /tmp, also has others' folders, and what others put there.
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            continue
        if left.name.startswith(".") and time.time() - found.st_mtime < _LOCKED_AFTER_SECONDS:
            continue
        _remove_unlocked(left)


def _remove_unlocked(folder: Path) -> None:
    try:
        descriptor = lock(folder)
    except (BlockingIOError, FileNotFoundError):
        return  # its process is alive, or another one has just removed it
    _remove(folder)
    os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove a folder; a rest that cannot be removed is left to a later process."""
    try:
        shutil.rmtree(folder)
    except OSError:
        # Processes that have just been killed may still have been writing.
        time.sleep(_DYING_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
