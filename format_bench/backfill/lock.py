"""The lock of whatever measures in a checkout: two at once would disturb each other."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from adapter_core.errors import FormatBenchError


@contextmanager
def measuring_lock(root: Path) -> Iterator[int]:
    """Hold the lock that cron.sh takes, too, and yield its file descriptor, for children to hold.

    Raises
    ------
    FormatBenchError
        If another run holds it; the message says which.
    """
    path = _asv_folder(root) / "cron.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip()
            raise FormatBenchError(f"another run holds {path}: {holder or 'unknown'}") from error
        file.truncate(0)
        file.write(f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
        file.flush()
        yield file.fileno()


def _asv_folder(root: Path) -> Path:
    """Return the folder of the lock: the monthly run measures in a clone inside of it."""
    return root.parent if root.parts[-2:] == (".asv", "monthly") else root / ".asv"
