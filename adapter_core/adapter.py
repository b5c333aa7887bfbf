"""The base of all adapters: their facts, their availability, and the files they leave."""

from __future__ import annotations

import os
import warnings
from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import files
from adapter_core.availability import Availability, probe

if TYPE_CHECKING:
    from adapter_core.traits import Trait


class BaseAdapter(ABC):
    """One way to keep data in files.

    Subclasses state facts as class attributes; `label` and `requires` are literals, since they are
    also read without importing the file (see `adapter_core.listing`).
    """

    label: ClassVar[str]
    """Name in results, tables and charts: the format, and in brackets the engine if unusual."""
    suffix: ClassVar[str]
    """Ending of the files or directories that it writes, with the dot."""
    requires: ClassVar[tuple[str, ...]]
    """Requirement strings of the distributions that it needs."""
    suite: ClassVar[str] = ""
    """The asv suite that measures it, a literal too; empty for the first one of its family."""
    excluded_from_all: ClassVar[str] = ""
    """Reason why the extra `all` excludes its libraries, a literal too; empty if it includes them.

    The extra `native` includes them instead.
    """
    modules: ClassVar[dict[str, str]] = {}
    """Module to import, for required distributions whose module has another name."""
    traits: ClassVar[frozenset[Trait] | None] = None
    """What the format is; None if nobody has said, which is not the same as none of them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Packages of third parties may still declare the attribute by its first name.
        if "apart" in vars(cls):
            warnings.warn("`apart` is now `excluded_from_all`", DeprecationWarning, stacklevel=2)
            cls.excluded_from_all = vars(cls)["apart"]

    def availability(self) -> Availability:
        """Import what the adapter requires and tell whether it can work here."""
        return probe(self.requires, self.modules, self._install_hint)

    @property
    def _install_hint(self) -> str:
        extra = type(self).__module__.rpartition(".")[2]
        return f'pip install ".[{extra}]"'

    def size_bytes(self, path: str | os.PathLike[str]) -> int:
        """Return the size in bytes of a saved file, or of all files of a saved directory.

        Raises
        ------
        FileNotFoundError
            If nothing is there.
        """
        path = Path(path)
        if not path.is_dir():
            return path.stat().st_size
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

    def remove(self, path: str | os.PathLike[str]) -> None:
        """Remove a saved file or directory; what is not there is left alone."""
        files.remove(Path(path))

    @contextmanager
    def replacing(self, path: str | os.PathLike[str]) -> Iterator[Path]:
        """Give a temporary path beside `path`; move it there if the block succeeds, else remove it.

        An earlier file or directory at `path` stays whole until the new one is complete.
        """
        path = Path(path)
        temporary = files.partial_path(path, self.suffix)
        try:
            yield temporary
            if temporary.is_dir() or path.is_dir():
                self._replace_directory(temporary, path)
            else:
                temporary.replace(path)
        finally:
            self.remove(temporary)

    def _replace_directory(self, new: Path, path: Path) -> None:
        """Put `new` at `path`; rename refuses a directory that is in the way."""
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
