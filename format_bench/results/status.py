"""Status of cells, and the mark of wrong values in their sentences."""

from __future__ import annotations

from enum import StrEnum


class CellStatus(StrEnum):
    """Status of a cell: a value, or the kind of reason for a missing one."""

    VALUE = "value"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMED_OUT = "timed out"


# Begins the sentence of a cell whose data came back with other values.
WRONG = "came back wrong: "
