"""What a monitor reads from the exit status of a monthly run."""

from __future__ import annotations

import errno
import os
from enum import IntEnum

from adapter_core.errors import FormatBenchError


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


class MonthlyError(FormatBenchError):
    """Something that ends a step, or the run, with a line and an exit status.

    Parameters
    ----------
    status : Status
        What the run ends with, unless something graver happens.
    sentence : str
        What was wrong.
    """

    def __init__(self, status: Status, sentence: str) -> None:
        self.status = status
        super().__init__(sentence)


def of(error: Exception) -> Status:
    """Return the status that an error ends a run with."""
    if isinstance(error, MonthlyError):
        return error.status
    full = os.strerror(errno.ENOSPC) in str(error)
    return Status.NO_ROOM if full else Status.DEFECT
