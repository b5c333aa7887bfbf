"""Estimates of read times on other media: from seeks, bytes, and the time on a medium in memory.

    seconds = seconds in memory + seeks * seconds of a seek + bytes / rate

Seeks and bytes are those that an emulated disk with one head counted. Nothing overlaps in this model, so
it overestimates readers that decode while they wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidRequestError
from format_bench.instruments.medium import IN_MEMORY

if TYPE_CHECKING:
    from format_bench.studies.storage.results import StorageCell, StorageResults


@dataclass(frozen=True)
class MediumModel:
    """Figures of a medium, measured or assumed."""

    name: str
    seek_seconds: float
    bytes_per_second: float

    @classmethod
    def parse(cls, text: str) -> MediumModel:
        """Return the medium of a text like "network disk=1,125": milliseconds, and MB/s.

        Raises
        ------
        InvalidRequestError
            If it is something else.
        """
        name, _, figures = text.partition("=")
        try:
            milliseconds, megabytes = map(float, figures.split(","))
        except ValueError:
            milliseconds = megabytes = 0.0
        if not name or milliseconds < 0 or megabytes <= 0:
            raise InvalidRequestError(
                f"--medium {text}: write a name, milliseconds of a random read, and MB/s, as in "
                "disk=8,150"
            )
        return cls(name, milliseconds / 1e3, megabytes * 1e6)

    def __str__(self) -> str:
        """Return the name with the figures."""
        return f"{self.name} ({1e3 * self.seek_seconds:g} ms, {self.bytes_per_second / 1e6:,.0f} MB/s)"


ASSUMED = (
    MediumModel("HDD, 5,400 a minute", 0.012, 100e6),
    MediumModel("network disk", 0.001, 125e6),
    MediumModel("SATA SSD", 0.0001, 500e6),
    MediumModel("NVMe SSD", 0.00002, 3e9),
)
"""Media with figures of the usual size of their kind. They are assumptions, not measurements."""


@dataclass(frozen=True)
class ReadCost:
    """Demands of a read on any medium."""

    format: str
    question: str
    memory_seconds: float
    """Time on a medium in memory."""
    seeks: int
    read_bytes: int

    def seconds_on(self, medium: MediumModel) -> float:
        """Return the estimated time on a medium."""
        waiting = self.seeks * medium.seek_seconds + self.read_bytes / medium.bytes_per_second
        return self.memory_seconds + waiting


def media_of_costs(results: StorageResults) -> tuple[str, str] | None:
    """Return the medium in memory and the one that counts seeks; None if either is missing."""
    memory = next(
        (name for name, facts in results.media.items() if facts["file_system"] in IN_MEMORY),
        None,
    )
    counting = next((name for name in results.media if results.has(name, "seeks")), None)
    return (memory, counting) if memory and counting else None


def read_costs(results: StorageResults, question: str) -> list[tuple[ReadCost, StorageCell]]:
    """Return the cost of a question for each format, and the cell of the disk that counted."""
    media = media_of_costs(results)
    if media is None:
        return []
    memory, counting = media
    found = []
    for label, seconds in results.times(question, memory).items():
        cell = results.cell(label, question, counting)
        if cell and cell.seconds and cell.seeks is not None and cell.read_bytes is not None:
            cost = ReadCost(label, question, seconds, cell.seeks, cell.read_bytes)
            found.append((cost, cell))
    return found
