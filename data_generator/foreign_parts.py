"""Refusal of parts of a user's data that lie elsewhere, or that block whoever opens them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from adapter_core.errors import InvalidDataError


def check_folder(folder: Path) -> None:
    """Raise `InvalidDataError` unless all below a folder are folders, files, and links inside of it."""
    root = folder.resolve()
    for entry in _entries(folder):
        path = Path(entry.path)
        if entry.is_symlink():
            _check_link(folder, root, path)
        elif not entry.is_file() and not entry.is_dir():
            _refuse_special(folder, path)


def check_beside(path: Path, *suffixes: str) -> None:
    """Raise `InvalidDataError` if a library would open something else than a file beside a file.

    Parameters
    ----------
    path : Path
        The user's file.
    *suffixes : str
        Suffix that the library appends to the file's name, e.g. "-wal".
    """
    for suffix in suffixes:
        beside = path.with_name(f"{path.name}{suffix}")
        if os.path.lexists(beside) and not stat.S_ISREG(beside.lstat().st_mode):
            problem = f"has beside it {beside.name}, which is not a file"
            raise InvalidDataError(path, problem, "remove it, or put a copy of the file in its place")


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all that is below a folder; links are not followed, which may lead round in circles."""
    waiting = [os.fspath(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _check_link(folder: Path, root: Path, path: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or round in a circle
        target = Path("/")
    if not target.is_relative_to(root):
        problem = f"has a link that leads out of it, {_below(folder, path)}"
        raise InvalidDataError(folder, problem, "put a copy of the file in its place, or remove it")
    if target.is_dir() and root.is_relative_to(target):
        problem = f"has a link to a folder that it is in, {_below(folder, path)}"
        raise InvalidDataError(folder, problem, "remove it")
    if not target.is_dir() and not target.is_file():
        _refuse_special(folder, path)


def _refuse_special(folder: Path, path: Path) -> None:
    problem = f"has a pipe, socket or device in it, {_below(folder, path)}"
    raise InvalidDataError(folder, problem, "remove it")


def _below(folder: Path, path: Path) -> str:
    """Return a path relative to a folder, in characters that any terminal shows as they are."""
    return ascii(os.fspath(path.relative_to(folder)))[1:-1]
