"""Traits of formats: properties that a choice may depend on, and that no clock measures."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A property of a format with its current libraries; the value is the name of the requirement."""

    SAFE = "safe"
    """Reading does not run code from the file."""
    PORTABLE = "portable"
    """Libraries of other languages read the values of all columns, and their names."""
    TEXT = "text"
    """An uncompressed file is text that people read and edit without a program for the format."""
    APPEND = "append"
    """A library adds rows to a table without rewriting the bytes of the others."""
    SINGLE_FILE = "single-file"
    """A table is one file, not a directory."""
