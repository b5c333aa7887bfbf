"""Where a user's data are: a file or a folder, and in it perhaps one of several tables."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import InvalidDataError

SEPARATOR = "::"

CODEC_ENDINGS = (".gz", ".zst", ".xz")


@dataclass(frozen=True)
class DataLocation:
    """A file or folder, as ``measures.db``, or one table in it, as ``measures.db::trips``."""

    path: Path
    """Absolute."""
    table: str | None
    is_folder: bool


def find(text: str | os.PathLike[str]) -> DataLocation:
    """Return what is at a path, without opening it: a pipe or a device could keep us waiting for ever.

    Raises
    ------
    InvalidDataError
        If nothing is there, or neither a file nor a folder, or if it may not be read.
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
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InvalidDataError(path, "is neither a file nor a folder", "copy what it gives to a file")
    if not os.access(path, os.R_OK):
        raise InvalidDataError(
            path, "cannot be opened: this user may not read it", "change its permissions"
        )
    return DataLocation(path, table or None, stat.S_ISDIR(mode))


def bare_name(path: Path) -> str:
    """Return the last part of a path, without the ending that tells of compression."""
    return path.stem if path.suffix.lower() in CODEC_ENDINGS else path.name
