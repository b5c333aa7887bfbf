"""A reader that is fuzzed, with valid files, ways to change them, and the call that reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.fuzz.damage import Damage


@dataclass(frozen=True)
class Target:
    """A reader, or several of one kind of file."""

    name: str
    seeds: Mapping[str, Callable[[Path], object]]
    """Functions that write a valid file to a path, by the name of the file."""
    damages: tuple[Damage, ...]
    """Ways to change a file; of each trial one is drawn."""
    read: Callable[[Path], Any]
    """Reads a file in this process, and returns its values."""
    modules: tuple[str, ...] = ()
    """Modules imported before processes are forked."""
    is_data: bool = False
    """A file of `--data`, whose reading must raise `FormatBenchError` alone."""
    contained: Callable[[Path], Any] | None = None
    """Reads a file as a user does, where that is in a process of its own, which may crash."""
    prints: bool = False
    """The library may print, since a user's file is read where nobody sees it."""

    writes: bool = False
    """The call writes into the folder of the file."""

    cpu_seconds: float = 15
    """CPU time of reading a small file, beyond which it hangs; on a busy machine, a wait proves nothing."""
    programs: tuple[str, ...] = ()
    """Programs that the call may start."""

    def prepare(self) -> None:
        """Import the libraries, in a process that others are forked from."""
        for name in self.modules:
            import_module(name)
