"""Location of a user's data: a file or folder, and optionally one of several tables in it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import InvalidDataError

SEPARATOR = "::"

CODEC_ENDINGS = (".gz", ".zst", ".xz")

# Names become parts of paths and headings of tables.
NAME_CHARACTERS = 60


@dataclass(frozen=True)
class DataLocation:
    """A file or folder, e.g. ``measures.db``, or one table in it, e.g. ``measures.db::trips``."""

    path: Path
    """Absolute path."""
    table: str | None
    is_folder: bool


def find(text: str | os.PathLike[str]) -> DataLocation:
    """Return the location that a user's text denotes, without opening it.

    Raises
    ------
    InvalidDataError
        If the path does not exist, is neither a file nor a folder, or may not be read.
    """
    name, separator, table = os.fspath(text).rpartition(SEPARATOR)
    if not separator or Path(text).exists():
        name, table = os.fspath(text), ""
    path = Path(name).absolute()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InvalidDataError(path, "there is no such file or folder") from error
    except OSError as error:
        raise InvalidDataError(path, f"cannot be opened: {error.strerror}") from error
    # Opening a pipe or a device could block forever.
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InvalidDataError(path, "is neither a file nor a folder", "copy its content to a file")
    if not os.access(path, os.R_OK):
        raise InvalidDataError(
            path, "cannot be opened: this user may not read it", "change its permissions"
        )
    return DataLocation(path, table or None, stat.S_ISDIR(mode))


def bare_name(path: Path) -> str:
    """Return the last part of a path without the ending of a compressed file."""
    return path.stem if path.suffix.lower() in CODEC_ENDINGS else path.name


def safe_name(text: str, taken: Container[str]) -> str:
    """Return a name that can be part of a file name and differs from those that are taken."""
    name = re.sub(r"\W+", "_", text).strip("_")[:NAME_CHARACTERS] or "data"
    return f"own_{name}" if name in taken else name
