"""Atomic writing of files, and one error for everything that damaged content of a file causes.

The module belongs to this package since data_generator and all packages of formats write files too,
and none of them may import format_bench.
"""

from __future__ import annotations

import csv
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import FormatBenchError

OF_CONTENT = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, csv.Error),
)
"""Errors of parsing text, and of taking values apart that have another form than expected."""


def user_cache() -> Path:
    """Return the folder of things built and installed for a user, which may not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "formatbench"


# Neither wildcards, nor what ends a text of SQL, nor what begins options or a fragment of an address.
_PLAIN = re.compile(r"[\w./ @+=,~-]+")

# Names that `partial_path` returns.
_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial[^/]*")

# No file of the project takes so long to write.
_KILLED_SECONDS = 3600.0


def partial_path(path: Path, suffix: str | None = None) -> Path:
    """Return a new name beside `path` for a file or folder that is still being written.

    Parameters
    ----------
    path : Path
        The final name.
    suffix : str, optional
        Ending of the temporary name, since libraries choose a format by it; by default the ending of
        `path`.
    """
    # .gitignore has the pattern `*.partial*`; the random part keeps two writers of one file apart.
    ending = path.suffix if suffix is None else suffix
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial{ending}")


def is_partial(name: str) -> bool:
    """Return whether `partial_path` has made a name."""
    return bool(_PARTIAL.fullmatch(name))


@contextmanager
def write_atomically(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it there if the block succeeds, else remove it.

    An earlier file at `path` stays as it is until the new one is complete.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist.
    durable : bool
        Bring content and name to the disk before returning, for files that must survive a power failure.
        Temporary files that killed writers left in the folder more than an hour ago are removed.

    Yields
    ------
    Path
        A path that does not exist yet, with the same ending as `path`.
    """
    path = Path(path)
    temporary = partial_path(path)
    if durable:
        _remove_left_over(path.parent)
    try:
        yield temporary
        if durable:
            _fsync(temporary)
        temporary.replace(path)
        if durable:
            # The new name is an entry of the folder, which fsync of the file does not cover.
            _fsync(path.parent)
    except OSError as error:
        # Users look for the name that they gave.
        if str(error.filename) == str(temporary):
            error.filename = str(path)
            del error.filename2
        raise
    finally:
        remove(temporary)


def size_bytes(path: Path) -> int:
    """Return the size of a file, or of all files of a folder.

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    """
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def remove(path: Path) -> None:
    """Remove a file or a folder; a missing one is ignored, and a link is removed itself."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_left_over(folder: Path) -> None:
    """Remove temporary files of writers that were killed; younger ones may still be written."""
    for each in folder.glob(".*.partial*"):
        # One that another writer has just removed, or that is another user's, is not ours to remove.
        with suppress(OSError):
            if is_partial(each.name) and time.time() - each.lstat().st_mtime > _KILLED_SECONDS:
                remove(each)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def content_of(
    path: str | os.PathLike[str], kind: type[FormatBenchError], problem: str
) -> Iterator[None]:
    """Raise an error of the project in place of those that damaged or foreign content causes.

    Only the parsing of a file that the program wrote belongs inside, to keep other errors as they are.

    Parameters
    ----------
    path : path-like
        The file.
    kind : type
        Class of the error.
    problem : str
        Predicate of the sentence whose subject is the file, and advice.
    """
    import msgspec

    try:
        yield
    except (*OF_CONTENT, msgspec.MsgspecError) as error:
        if isinstance(error, kind):
            raise
        raise kind(f"{os.fspath(path)} {problem}") from error


@contextmanager
def plain_path(path: Path) -> Iterator[Path]:
    """Provide a path that need not exist by plain characters alone: itself, or a symbolic link to it.

    DuckDB puts its logs before a question mark in a path, outside of the folder at hand, and ArcticDB
    takes what follows one for options.
    """
    if _PLAIN.fullmatch(str(path.absolute())):
        yield path.absolute()
        return
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        link.symlink_to(path.absolute())
        yield link
