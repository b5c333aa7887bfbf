"""What a format is, whatever the data: facts that a choice may depend on and no clock measures."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A fact of a format, as its libraries stand; the value is the name that choices go by."""

    SAFE = "safe"
    """Reading runs no code that a file holds."""
    PORTABLE = "portable"
    """Libraries of other languages read it: values of all columns, and their names."""
    TEXT = "text"
    """An uncompressed file is text, which people read and edit without a program for the format."""
    APPEND = "append"
    """A library of the format adds rows to a table, and leaves the bytes of the others as they are."""
    SINGLE_FILE = "single-file"
    """A table is one file, not a directory."""
