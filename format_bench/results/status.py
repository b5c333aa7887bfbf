"""Status of cells, and the kinds of their sentences: wrong values, failures of the surroundings."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Self

from adapter_core.errors import (
    CannotHoldError,
    NotColdError,
    UnavailableError,
    UnknownNameError,
    UnsupportedError,
)


class CellStatus(StrEnum):
    """Status of a cell: a value, or the kind of reason for a missing one."""

    VALUE = "value"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMED_OUT = "timed out"


# Errors that are results: their messages are the reasons.
_EXPECTED: dict[type[BaseException], CellStatus] = {
    CannotHoldError: CellStatus.UNSUPPORTED,
    UnsupportedError: CellStatus.UNSUPPORTED,
    UnavailableError: CellStatus.UNAVAILABLE,
    UnknownNameError: CellStatus.UNAVAILABLE,
    NotColdError: CellStatus.UNAVAILABLE,
}


def status_of(error: BaseException) -> CellStatus:
    """Return the status of a cell whose step raised an error."""
    return _EXPECTED.get(type(error), CellStatus.FAILED)


class Reason(str):
    """Sentence on a missing value, with the status of the cell.

    Parameters
    ----------
    sentence : str
        The sentence; empty if there is a value.
    status : CellStatus
        The status, as the class of an error gives it.
    """

    __slots__ = ("status",)

    status: CellStatus

    def __new__(cls, sentence: str, status: CellStatus = CellStatus.FAILED) -> Self:
        """Return the sentence with its status."""
        found = super().__new__(cls, sentence)
        found.status = status
        return found


# Begins the sentence of a cell whose data came back with other values.
WRONG = "came back wrong: "

LITTLE_SPACE = "free on the disk of its files"
"""Ends the sentence of a cell that failed on a disk almost full, which many libraries do not report."""

LOST_WORKERS = "no worker finished it"
"""Begins the sentence of a cell whose workers of a cluster were lost."""

BUDGET_SPENT = "not measured within the time budget"
"""Sentence of a cell whose step would have taken more than its share of a run's time budget."""

# What the system, the C library, Python, Rust, Arrow, SQLite and the isolation of steps say of a disk or
# memory that is full or broken, and of a process that was killed.
_SURROUNDINGS = re.compile(
    r"no space left on device|disk quota exceeded|cannot allocate memory|database or disk is full"
    r"|(errno|os error)\W{1,4}(5|12|28|122)\b|ENOSPC|EDQUOT|input/output error|MemoryError|bad_alloc"
    r"|killed \(SIGKILL\)|killed from outside"
    rf"|{LITTLE_SPACE}|{LOST_WORKERS}",
    re.IGNORECASE,
)


def is_of_surroundings(status: CellStatus | None, sentence: str) -> bool:
    """Return whether a cell failed for want of space, memory or a budget's time, or as it was killed.

    Such a failure is not the format's, and may not happen again.
    """
    if status is CellStatus.TIMED_OUT:
        return sentence == BUDGET_SPENT
    return status is CellStatus.FAILED and _SURROUNDINGS.search(sentence) is not None
