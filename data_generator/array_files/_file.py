"""Base class of files of arrays, and the arrays that they contain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import UnavailableError
from adapter_core.availability import probe

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array in a file, of any dtype."""

    name: str
    """Name with the groups that it is in, e.g. ``forecast/wind``; empty if the file is one array."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...] | None = None
    """None if the file does not divide the array."""
    dims: tuple[str, ...] = ()
    """Empty if the file does not name them."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, str] = field(default_factory=dict)
    """For some dimensions the name of the one-dimensional array with their coordinates."""
    is_coordinate: bool = False
    problem: str = ""
    """Why its values are not an array of numbers, beyond their dtype, as a clause."""


@dataclass(frozen=True)
class ArrayFile(ABC):
    """A file or folder of one kind; it can be pickled, and is open only while it is read."""

    path: Path
    kind: ClassVar[str]
    """Name of the kind in messages."""
    endings: ClassVar[tuple[str, ...]] = ()
    """Endings of file names, in lower case and with the dot, whose content must be of this kind."""
    signatures: ClassVar[tuple[bytes, ...]] = ()
    """First bytes of files, one of these."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Distributions beyond those that this project itself requires."""
    own_attributes: ClassVar[frozenset[str]] = frozenset()
    """Attributes that describe the kind of file, and are not the user's."""
    remarks: ClassVar[tuple[str, ...]] = ()
    """Changes that reading makes, as clauses."""

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:  # noqa: ARG003 (a signature suffices for most)
        """Return True for a file of this kind, which begins with the bytes of `head`."""
        return head.startswith(cls.signatures)

    @classmethod
    def is_in(cls, folder: Path) -> bool:  # noqa: ARG003 (most kinds are files)
        """Return True if a folder as a whole is of this kind."""
        return False

    @property
    def stem(self) -> str:
        """Name of the file without the ending of its kind."""
        name = self.path.name
        ending = next((each for each in self.endings if name.lower().endswith(each)), self.path.suffix)
        return name.removesuffix(name[len(name) - len(ending) :])

    def check_available(self) -> None:
        """Raise `UnavailableError` if the libraries that read such files are missing or broken."""
        hint = f"python -m pip install {' '.join(self.requires)}"
        answer = probe(self.requires, {}, hint)
        if not answer:
            raise UnavailableError(f"the reader of {self.kind} files", answer.reason, hint)

    @abstractmethod
    def arrays(self) -> list[StoredArray]:
        """Return all arrays, those that cannot be measured too."""

    @abstractmethod
    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values of a selection, in any order in memory and any order of bytes."""
