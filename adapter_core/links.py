"""Paths for libraries that take some of their characters for patterns or parts of an address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def link_to(path: Path) -> Iterator[Path]:
    """Give a symbolic link to a file or directory, there or not, whose path is of plain characters."""
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        link.symlink_to(path.absolute())
        yield link
