"""The base of all readers: how a kind of file is known, and what reading it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.availability import probe
from adapter_core.errors import InvalidDataError, UnavailableError
from data_generator.errors import library_errors
from data_generator.sampling import sampled_rows

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class Request:
    """What to read."""

    path: Path
    """Absolute, and known to exist."""
    codec: str | None
    """What the file as a whole is compressed by, in pandas' words."""
    table: str | None
    """Which of several tables; None if none was named."""
    sample_rows: int | None
    seed: int
    trust_pickle: bool

    def sampled_rows(self, rows: int) -> np.ndarray | None:
        """Return which of that many rows to keep, ascending; None for all of them."""
        return sampled_rows(rows, self.sample_rows, self.seed)

    def only(self, tables: list[str], what: str) -> str:
        """Return the name of the table to read, of those that are in the file.

        Raises
        ------
        InvalidDataError
            If there is none, or not the one that was named, or several and none was named.
        """
        if not tables:
            raise InvalidDataError(self.path, f"holds no {what}")
        listed = f"{', '.join(tables[:10])}{', ...' if len(tables) > 10 else ''}"  # noqa: PLR2004
        if self.table is None and len(tables) > 1:
            advice = f"name one of them, as in {self.path.name}::{tables[0]}"
            raise InvalidDataError(self.path, f"holds {len(tables)} {what}s: {listed}", advice)
        if self.table is not None and self.table not in tables:
            raise InvalidDataError(self.path, f"holds no {what} {self.table!r}", f"it holds {listed}")
        return self.table or tables[0]


class TableReader(ABC):
    """Reads one kind of file into a DataFrame."""

    what: ClassVar[str]
    """What messages call the kind."""
    endings: ClassVar[tuple[str, ...]]
    """Endings of file names, in lower case and with the dot."""
    signatures: ClassVar[tuple[tuple[int, bytes], ...]] = ()
    """Offsets and the bytes that are there, one of them, in each file of this kind."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Distributions beyond those that this project itself needs."""
    modules: ClassVar[dict[str, str]] = {}
    """The modules of those that are imported under another name."""
    holds_several: ClassVar[bool] = False
    """Whether a file may hold several tables."""
    is_text: ClassVar[bool] = False
    """Whether files are text, which has no signature."""
    is_compressible: ClassVar[bool] = False
    """Whether files that are compressed as a whole are read too."""
    crashes: ClassVar[bool] = False
    """Whether the library may end the process, or complain aloud, over a damaged file."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first bytes of a file whether it is of this kind."""
        return any(head.startswith(magic, offset) for offset, magic in self.signatures)

    def is_in(self, folder: Path) -> bool:  # noqa: ARG002 (most kinds are files)
        """Tell whether a folder as a whole is a table of this kind."""
        return False

    def check_available(self) -> None:
        """Raise `UnavailableError` if the libraries that read such files are missing or broken."""
        hint = f"python -m pip install {' '.join(self.requires)}"
        answer = probe(self.requires, self.modules, hint)
        if not answer:
            raise UnavailableError(f"the reader of {self.what} files", answer.reason, hint)

    @abstractmethod
    def read(self, request: Request) -> pd.DataFrame:
        """Return the table, with whatever index and column names it has.

        A reader that can leave out rows before they take memory returns `Request.sampled_rows` alone;
        of what others return the sample is taken afterwards.

        Raises
        ------
        InvalidDataError
            If the file cannot be read.
        """

    def guard(self, request: Request) -> AbstractContextManager[None]:
        """Return what stands around calls of the library that reads the file."""
        return library_errors(request.path, self.what)
