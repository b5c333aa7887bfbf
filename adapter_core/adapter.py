"""Base class of all adapters: facts, availability, and files on disk."""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from adapter_core import files
from adapter_core.availability import Availability, absence, install_hint, probe
from adapter_core.environments import OwnEnvironment
from adapter_core.errors import UnsupportedError
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Pasteable
from adapter_core.traits import Trait


def format_of(label: str) -> str:
    """Return the format that a label names, "Parquet" for "Parquet[polars]"."""
    return label.partition("[")[0]


def engine_of(label: str) -> str:
    """Return the engine that a label names, "polars" for "Parquet[polars]"; empty if it names none."""
    return label.partition("[")[2].partition("]")[0]


class BaseAdapter(Pasteable, ABC):
    """A way to store data in files.

    Subclasses declare facts as class attributes. `label`, `requires`, `suite`, `excluded_from_all`,
    `outside_library_set` and `environment` are literals, since they are also read without importing the
    file (see `adapter_core.listing`).
    """

    label: ClassVar[str]
    """Name in results, tables and charts: the format, and in brackets the engine if unusual."""
    suffix: ClassVar[str]
    """File-name extension of the files or directories that it writes, with the dot."""
    requires: ClassVar[tuple[str, ...]]
    """Requirement strings of the distributions that it needs."""
    suite: ClassVar[str] = ""
    """The asv suite that measures it; empty for the first suite of its family."""
    excluded_from_all: ClassVar[str] = ""
    """Reason why its libraries are in the extra `native`; empty if they are in `all`."""
    outside_library_set: ClassVar[str] = ""
    """Reason why its libraries are in no extra, and never pinned; empty if they are."""
    environment: ClassVar[str] = ""
    """Name of the environment whose interpreter measures it; empty for the library set's."""
    modules: ClassVar[dict[str, str]] = {}
    """Module to import, for required distributions whose module has another name."""
    language: ClassVar[str] = "python"
    """Language of the program that saves, reads and answers queries, in lower case.

    The last of these counts where they differ: whole tables of an adapter for event loops in C++ become
    frames of pandas all the same.
    """
    traits: ClassVar[frozenset[Trait] | None] = None
    """Properties of the format; None if unknown, which differs from an empty set."""
    file_facts: ClassVar[FileFacts] = FileFacts()
    """Settings of its files beside the codec, or why files do not record them."""
    checksums: ClassVar[str] = ""
    """Checksums of the format that are off by default; empty if there are none to switch on."""
    checksum_codecs: ClassVar[frozenset[str] | None] = None
    """Codecs whose compressed data have these checksums; None if they do not depend on the codec."""
    crash_on_damage: ClassVar[str] = ""
    """Crash or hang of the reader that was seen on damaged files, as a sentence; empty if none was."""
    uses_checksums: bool = False
    """True if `checksums` are written by `save` and verified by `read`; see `with_checksums`."""
    checks_saves: bool = True
    """False if saves trust that `check` has accepted their data; see `without_check`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Third-party packages may still declare the attribute under its first name.
        if "apart" in vars(cls):
            warnings.warn("`apart` is now `excluded_from_all`", DeprecationWarning, stacklevel=2)
            cls.excluded_from_all = vars(cls)["apart"]

    def availability(self) -> Availability:
        """Import the required packages and report whether the adapter can work in this process."""
        found = probe(self._needed, self.modules, self._install_hint)
        return OwnEnvironment(self.environment).from_here(found) if self.environment else found

    def installed(self) -> Availability:
        """Report whether the required packages are installed, without importing them.

        They are looked up in the adapter's own environment, if it has one. A package that is installed
        may be broken all the same: see `availability`.
        """
        if self.environment:
            return OwnEnvironment(self.environment).installed(self._needed)
        return probe(self._needed, self.modules, self._install_hint, absence)

    @property
    def _needed(self) -> tuple[str, ...]:
        """The requirements without which nothing works."""
        return self.requires

    @property
    def _install_hint(self) -> str:
        if self.environment:
            return OwnEnvironment(self.environment).build_hint
        if self.outside_library_set:
            return f"pip install {' '.join(map(repr, self.requires))}"
        return install_hint(type(self).__module__.rpartition(".")[2])

    def with_checksums(self) -> Self:
        """Return an adapter that writes and verifies the format's optional checksums.

        Raises
        ------
        UnsupportedError
            If the format has no checksums that are off by default.
        """
        if not self.checksums:
            raise UnsupportedError(f"{self.label} has no checksums to switch on")
        adapter = copy.copy(self)
        adapter.uses_checksums = True
        return adapter

    def without_check(self) -> Self:
        """Return an adapter whose saves leave out `check`, which the caller makes before the clock.

        A check takes up to a quarter of a fast format's save, and nothing next to a slow one's: within
        the measured time it would count against fast formats.
        """
        adapter = copy.copy(self)
        adapter.checks_saves = False
        return adapter

    def recover(self, path: Path) -> bool:  # noqa: ARG002 (for libraries that have one)
        """Let the library mend a file whose writer was killed; return whether it has a way to do so."""
        return False

    def _existing(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a saved file; raise `FileNotFoundError` if there is none."""
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"{self.label}: there is no file {path}")
        return path

    def _in_folder(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a file to write; raise `FileNotFoundError` if its folder is missing."""
        path = Path(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        return path

    def size_bytes(self, path: str | os.PathLike[str]) -> int:
        """Return the size in bytes of a saved file, or of all files of a saved directory.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        return files.size_bytes(Path(path))

    def remove(self, path: str | os.PathLike[str]) -> None:
        """Remove a saved file or directory; a missing one is ignored."""
        files.remove(Path(path))

    @contextmanager
    def replacing(self, path: str | os.PathLike[str]) -> Iterator[Path]:
        """Provide a temporary path beside `path`; rename it if the block succeeds, else remove it.

        An earlier file or directory at `path` stays as it is until the new one is complete.
        """
        path = Path(path)
        temporary = files.partial_path(path, self.suffix)
        try:
            yield temporary
            self._move(temporary, path)
        except BaseException:
            self.remove(temporary)
            raise

    def _move(self, new: Path, path: Path) -> None:
        try:
            # First, and nearly always last: a library that has just written megabytes leaves none of
            # this code in the processor's caches, so that each further question costs a save more.
            new.replace(path)
        except OSError:
            if not (new.is_dir() or path.is_dir()):
                raise
            self._replace_directory(new, path)

    def _replace_directory(self, new: Path, path: Path) -> None:
        # rename(2) replaces files, but no directory that has entries.
        old = new.with_name(new.name + ".old")
        if path.exists():
            path.replace(old)
        try:
            new.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
        self.remove(old)
