"""Base class of readers, their request, and the refusal of files larger than the available memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import UnavailableError
from adapter_core.availability import probe
from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors
from data_generator.sampling import sampled_rows

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class ReadRequest:
    """File, table and sample to read."""

    path: Path
    """Absolute path of an existing file or folder."""
    codec: str | None
    """Codec that the whole file is compressed with, by pandas' name."""
    table: str | None
    """Name of one of several tables; None if the user did not name one."""
    sample_rows: int | None
    """Number of rows of a random sample; None for all rows."""
    seed: int
    """Seed of the sample."""
    trust_pickle: bool
    """Permission to load pickles, which can run any program."""
    remarks: list[str] = field(default_factory=list)
    """Omissions of the reader, as clauses, which it adds while it reads."""

    def sampled_rows(self, rows: int) -> np.ndarray | None:
        """Return the numbers of the rows to keep, ascending; None for all rows."""
        return sampled_rows(rows, self.sample_rows, self.seed)

    def only(self, tables: list[str], noun: str) -> str:
        """Return the name of the table to read.

        Parameters
        ----------
        tables : list of str
            Names of the tables in the file.
        noun : str
            Noun for a table in messages, e.g. "sheet".

        Raises
        ------
        InvalidDataError
            If the file has no tables, lacks the named one, or has several and none was named.
        """
        if not tables:
            raise InvalidDataError(self.path, f"contains no {noun}")
        listed = f"{', '.join(tables[:10])}{', ...' if len(tables) > 10 else ''}"  # noqa: PLR2004
        if self.table is None and len(tables) > 1:
            advice = f"name one of them, e.g. {self.path.name}::{tables[0]}"
            raise InvalidDataError(self.path, f"contains {len(tables)} {noun}s: {listed}", advice)
        if self.table is not None and self.table not in tables:
            raise InvalidDataError(
                self.path, f"contains no {noun} {self.table!r}", f"it contains {listed}"
            )
        return self.table or tables[0]


class TableReader(ABC):
    """Reader of one kind of file into a DataFrame."""

    kind: ClassVar[str]
    """Name of the kind in messages."""
    endings: ClassVar[tuple[str, ...]]
    """Endings of file names, in lower case and with the dot."""
    signatures: ClassVar[tuple[tuple[int, bytes], ...]] = ()
    """Alternative signatures: an offset, and the bytes at that offset."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Distributions beyond those that this project itself requires."""
    modules: ClassVar[dict[str, str]] = {}
    """Modules of distributions that are imported under another name."""
    has_several_tables: ClassVar[bool] = False
    """Files of this kind may contain several tables."""
    is_text: ClassVar[bool] = False
    """Files are text, without a signature."""
    is_delimited: ClassVar[bool] = False
    """Files are text without types, whose dates are text."""
    is_compressible: ClassVar[bool] = False
    """Files that are compressed as a whole are read too."""
    has_values: ClassVar[bool] = True
    """Files contain the values of their table, and do not describe them only."""
    crashes: ClassVar[bool] = False
    """The library may crash the process, or print errors, on a damaged file."""

    def recognises(self, head: bytes) -> bool:
        """Return True if a file begins as this kind does."""
        return any(head.startswith(magic, offset) for offset, magic in self.signatures)

    def is_in(self, folder: Path) -> bool:  # noqa: ARG002 (most kinds are files)
        """Return True if a folder as a whole is a table of this kind."""
        return False

    def check_available(self) -> None:
        """Raise `UnavailableError` if the libraries that read such files are missing or broken."""
        hint = f"python -m pip install {' '.join(self.requires)}"
        answer = probe(self.requires, self.modules, hint)
        if not answer:
            raise UnavailableError(f"the reader of {self.kind} files", answer.reason, hint)

    @abstractmethod
    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the table, with any index and column names.

        A reader that can skip rows before they take memory returns the rows of
        `ReadRequest.sampled_rows` alone. From the result of others, the sample is drawn afterwards.

        Raises
        ------
        InvalidDataError
            If the file cannot be read.
        """

    def guard(self, request: ReadRequest) -> AbstractContextManager[None]:
        """Return the context manager for calls into the library that reads the file."""
        return library_errors(request.path, self.kind)


# https://docs.kernel.org/filesystems/proc.html#meminfo
MEMINFO = Path("/proc/meminfo")

# https://docs.kernel.org/filesystems/proc.html#process-specific-subdirectories
STATUS = Path("/proc/self/status")

LESS = "take a part of it, or a larger machine, or allow more by --data-memory"

# Columns of one table: a step for each takes hours with more, and most formats refuse fewer already.
MOST_COLUMNS = 50_000


def check_columns(path: Path, columns: int) -> None:
    """Raise `InvalidDataError` if a table has more columns than can be measured."""
    if columns > MOST_COLUMNS:
        problem = f"has {columns:,} columns, and at most {MOST_COLUMNS:,} can be measured"
        raise InvalidDataError(path, problem, "leave some out, or turn columns into rows")


def check_fits(path: Path, size_bytes: int, *, advice: str = LESS) -> None:
    """Raise `InvalidDataError` if a file declares more bytes than the available memory."""
    # Linux grants more memory than there is, and kills the process that then uses it.
    available = available_bytes()
    if available is not None and size_bytes > available:
        problem = (
            f"declares {size_bytes / 1e9:,.1f} GB, and {available / 1e9:,.1f} GB of memory are free"
        )
        raise InvalidDataError(path, problem, advice)


def available_bytes() -> int | None:
    """Return the memory that this process may still take, in bytes; None on other systems than Linux.

    That is less than the machine has if the process has a limit of its own.
    """
    if not MEMINFO.exists():
        return None
    import resource

    available = _entry(MEMINFO, "MemAvailable")
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit == resource.RLIM_INFINITY:
        return available
    own = max(0, limit - (_entry(STATUS, "VmData") or 0))
    return own if available is None else min(own, available)


def _entry(file: Path, name: str) -> int | None:
    """Return an entry of a file of Linux in bytes; None if it is not there."""
    for line in file.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
