"""Folders of a run: its scratch folder, removed even after a kill, and the lock of its results.

Locks are taken on the folders themselves, flock(2): the kernel gives them back when their process is no
more, and no lock file is left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapter_core.errors import FormatBenchError

_PREFIX = "format-bench-"


class Busy(FormatBenchError):
    """Another run is writing to the same results."""


@contextmanager
def make(parent: Path) -> Iterator[Path]:
    """Give a new folder in `parent`, removed at the end; remove those that killed runs have left."""
    for left in parent.glob(f"{_PREFIX}*"):
        _remove_if_left(left)
    new = Path(tempfile.mkdtemp(dir=parent, prefix=f".{_PREFIX}"))
    lock = _try_lock(new)
    # Under that name from the beginning, another run could take it for one left over.
    folder = new.rename(parent / new.name.removeprefix("."))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(lock)


@contextmanager
def only_run(out: Path) -> Iterator[None]:
    """Keep other runs from writing to the results in a folder.

    Raises
    ------
    Busy
        If one is writing.
    """
    try:
        lock = _try_lock(out)
    except BlockingIOError as error:
        raise Busy(f"another run is writing to {out}; wait for it, or choose another folder") from error
    try:
        yield
    finally:
        os.close(lock)


def _try_lock(folder: Path) -> int:
    """Return a descriptor that holds the lock of a folder until it is closed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_if_left(folder: Path) -> None:
    """Remove the folder of a run that is no more."""
    try:
        lock = _try_lock(folder)
    except (BlockingIOError, FileNotFoundError):
        return  # its run lives, or another one has just removed it
    shutil.rmtree(folder)
    os.close(lock)
