"""What a monitor reads from the exit status of a monthly run.

What a month has begun to measure, and how far it has come: a file that survives kills and reboots.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path

from adapter_core.errors import MonthlyError
from adapter_core.files import write_atomically


class Status(IntEnum):
    """Exit statuses, those of cron.sh's own included; of several that hold, the greatest is told."""

    DONE = 0
    DEFECT = 1
    """This program went wrong in a way that nobody has thought of."""
    USAGE = 2
    LOCKED = 3
    NO_ROOM = 4
    OLD_SET = 5
    """The renewed library set could not be resolved or installed; the one before it was measured."""
    INCOMPLETE = 6
    """A suite, or the comparison, failed; all others are measured."""
    UNSENT = 7
    """Measured, but not all of it is sent; the next run sends it."""
    CLOCK = 8
    """The clock is set back; nothing was measured."""
    NO_ENVIRONMENT = 9
    """There is no clone to work in, or its packages cannot be installed."""


def of(error: Exception) -> Status:
    """Return the status that an error ends a run with."""
    if isinstance(error, MonthlyError):
        return Status(error.status)
    full = os.strerror(errno.ENOSPC) in str(error)
    return Status.NO_ROOM if full else Status.DEFECT


DONE, FAILED = "done", "failed"


@dataclass
class Month:
    """One month's measurement.

    Parameters
    ----------
    name : str
        As in "2026-12".
    commit : str
        The commit that is measured.
    append : bool
        Whether samples are added to those that the commit has.
    changes : str
        What the library set's renewal changed, in a line.
    problem : str
        Why the library set could not be renewed; empty if it could.
    begun : dict
        When each suite was begun last, in seconds since 1970.
    ended : dict
        How each suite ended that has: `DONE` or `FAILED`.
    """

    name: str
    commit: str
    append: bool
    changes: str = ""
    problem: str = ""
    begun: dict[str, float] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        """The suites that have failed."""
        return [suite for suite, how in self.ended.items() if how == FAILED]

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path, durable=True) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read(path: Path) -> Month | None:
    """Return the month of a state file; None if there is no file."""
    return Month(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
