"""Why a cell has no value: asv keeps no sentence, so it is written beside asv's results."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What a cell of a comparison is: a value, or why it has none."""

    VALUE = "value"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMED_OUT = "timed out"


WRONG = "came back wrong: "
"""Begins the sentence of a cell whose data came back with other values."""
