"""Results of the study of media: the media, and a cell for each format, question and medium."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of, write_atomically

QUESTIONS = {
    "save": "durable save",
    "whole": "whole table",
    "columns": "2 columns of all rows",
    "rows": "100 random rows",
}
"""What is timed, in words."""


@dataclass(frozen=True)
class StorageCell:
    """Times of a format on a medium, one for each round, and the reads of the last one."""

    format: str
    engine: str
    """The query engine; empty for saves and reads of whole tables, which the adapter does."""
    question: str
    """One of `QUESTIONS`."""
    medium: str
    seconds: list[float] = field(default_factory=list)
    requests: int | None = None
    """Requests that the block device answered; None without a device of the medium's own."""
    read_bytes: int | None = None
    """Bytes of these requests."""
    seeks: int | None = None
    """Seeks for reads, as an emulated disk counts them; None for other media."""
    file_bytes: int = 0
    status: str = ""
    """Empty if there are times."""
    sentence: str = ""
    """Why there are none."""

    @property
    def best(self) -> float | None:
        """The shortest time in seconds; noise of the machine only adds to it."""
        return min(self.seconds, default=None)


@dataclass(frozen=True)
class StorageResults:
    """All of a session."""

    rows: int
    dataset: str
    media: dict[str, dict[str, Any]]
    """Facts and figures of the probe by name."""
    cpus: int
    loads: list[float] = field(default_factory=list)
    """Load of the machine before each format, processes that run or wait for the disk."""
    cells: list[StorageCell] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    """The formats that were asked for, measured or not."""

    @property
    def formats(self) -> list[str]:
        """The formats in order of appearance."""
        return list(dict.fromkeys(each.format for each in self.cells))

    def cell(self, label: str, question: str, medium: str) -> StorageCell | None:
        """Return a cell, or None if it was not measured."""
        wanted = label, question, medium
        return next(
            (each for each in self.cells if (each.format, each.question, each.medium) == wanted), None
        )

    def times(self, question: str, medium: str) -> dict[str, float]:
        """Return the best time of each format that has one."""
        found = {
            label: cell.best
            for label in self.formats
            if (cell := self.cell(label, question, medium)) is not None
        }
        return {label: seconds for label, seconds in found.items() if seconds is not None}

    def has(self, medium: str, fact: str) -> bool:
        """Return whether any cell of a medium has a fact, e.g. "seeks"."""
        return any(each.medium == medium and getattr(each, fact) is not None for each in self.cells)


def write(results: StorageResults, path: Path) -> None:
    """Write results as JSON, atomically."""
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> StorageResults:
    """Return the results of a file.

    Raises
    ------
    InvalidResultsError
        If it contains something else.
    """
    import msgspec

    with content_of(path, InvalidResultsError, "contains no results of `study media`"):
        return msgspec.json.decode(path.read_bytes(), type=StorageResults)
