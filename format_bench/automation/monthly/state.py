"""Working directory and state of a monthly run.

The directory is a clone with its git, interpreter and clock. Progress is in a file that survives kills
and reboots; the exit status shows how a run ended.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time
from enum import IntEnum
from pathlib import Path
from typing import Self

from adapter_core.errors import DamagedStateError, MonthlyError
from adapter_core.files import content_of, write_atomically
from format_bench.system.git import Repository

# Folder of everything that is not in git's main branch: environments, results, state.
ASV = Path(".asv")

# The interpreter that asv and the clone's packages are installed for.
PYTHON = ".venv/bin/python"

# A push of a site may take many minutes; a command that takes longer hangs.
REPOSITORY = Repository(Path(), timeout_seconds=1800)

# Environment variable with another day than today, e.g. "2026-12-01", to rehearse several months.
DAY_VARIABLE = "CRON_DATE"


def rehearsal_day() -> date | None:
    """Return the day that a rehearsal takes for today; None outside of rehearsals."""
    text = os.environ.get(DAY_VARIABLE)
    return date.fromisoformat(text) if text else None


def now() -> datetime:
    """Return the time, in UTC; in a rehearsal noon of its day."""
    day = rehearsal_day()
    return datetime.combine(day, time(12), tzinfo=UTC) if day else datetime.now(UTC)


class ExitStatus(IntEnum):
    """Exit statuses, including cron.sh's own; a run with several ends with the greatest."""

    DONE = 0
    DEFECT = 1
    """An error that this program does not expect."""
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
    """The clone cannot be made, or its packages cannot be installed."""


def status_of(error: Exception) -> ExitStatus:
    """Return the status that an error ends a run with."""
    if isinstance(error, MonthlyError):
        return ExitStatus(error.status)
    # The errors of git have no errno: a full disk shows in their text alone.
    disk_is_full = os.strerror(errno.ENOSPC) in str(error)
    return ExitStatus.NO_ROOM if disk_is_full else ExitStatus.DEFECT


DONE, FAILED = "done", "failed"

DAMAGED = "is not the state of a monthly run; remove it to measure the month from its start"


@dataclass
class MonthState:
    """Progress of one month's measurement. The fields are the keys of the state file.

    Parameters
    ----------
    name : str
        The month, e.g. "2026-12".
    commit : str
        The commit that is measured.
    append : bool
        Whether samples are added to those that the commit has.
    changes : str
        Summary of the changes to the library set, in a line.
    problem : str
        Reason why the library set could not be renewed; empty if it could.
    begun : dict
        Time of the start of a suite that has not ended, in seconds since 1970; of a portion of a suite
        by the suite and its first format.
    ended : dict
        `DONE` or `FAILED` for each suite that has ended.
    measured : dict
        Formats of each suite that have been measured.
    left_out : dict
        Formats of each suite that its hours did not suffice for.
    spent : dict
        Seconds that each suite has taken.
    """

    name: str
    commit: str
    append: bool
    changes: str = ""
    problem: str = ""
    begun: dict[str, float] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    measured: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the month of a state file; None if the file is missing.

        Raises
        ------
        DamagedStateError
            If it contains something else.
        """
        import msgspec

        if not path.exists():
            return None
        with content_of(path, DamagedStateError, DAMAGED):
            return msgspec.json.decode(path.read_bytes(), type=cls)

    @property
    def failed(self) -> list[str]:
        """The suites that have failed."""
        return [suite for suite, outcome in self.ended.items() if outcome == FAILED]

    def write(self, path: Path) -> None:
        """Write the state file atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # A reboot must not lose a month that has begun: its suites would be measured again.
        with write_atomically(path, durable=True) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def state_path(scale: str) -> Path:
    """Return the state file of a scale."""
    return ASV / scale / "month.json"
