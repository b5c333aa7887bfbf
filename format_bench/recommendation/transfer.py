"""Transfer of files over a link, or from and to a disk: size / speed, added to read or save time.

A file that is fetched and then read takes size / speed + read time, and one that is saved and then sent
takes save time + size / speed. Only times of files in the page cache are added to: a cold read and a
durable save contain the transfer from and to the disk of the machine that was measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from adapter_core.errors import InvalidWeightError
from format_bench.recommendation import formulas
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from format_bench.results.candidates import Candidate, DatasetSize

SIZE, READ_TIME, SAVE_TIME = Measure("size"), Measure("read time"), Measure("save time")

BYTES_PER_MEGABYTE = 1_000_000


class Speeds(NamedTuple):
    """Speeds of a link or a disk, in bytes per second; None for no transfer."""

    read: float | None = None
    """Files are fetched before they are read."""
    save: float | None = None
    """Files are sent after they are saved."""

    @classmethod
    def of_megabytes(cls, read: float | None, save: float | None) -> Speeds:
        """Return the speeds of numbers in MB/s.

        Raises
        ------
        InvalidWeightError
            If a number is not positive.
        """
        for each in (read, save):
            # Not a number fails every comparison.
            if each is not None and not 0 < each < float("inf"):
                raise InvalidWeightError(f"a speed of {each:g} MB/s; it must be a number above 0")
        return cls(*(each and each * BYTES_PER_MEGABYTE for each in (read, save)))

    def speed_of(self, measure: Measure) -> float | None:
        """Return the speed of the transfer that a measure includes; None without a transfer."""
        return {READ_TIME: self.read, SAVE_TIME: self.save}.get(measure)

    def needed(self, measures: Iterable[Measure]) -> list[Measure]:
        """Return the measures that a candidate needs; a transfer needs the size, too."""
        found = list(measures)
        if any(self.speed_of(each) for each in found) and SIZE not in found:
            found.append(SIZE)
        return found

    def value(self, candidate: Candidate, dataset: DatasetSize, measure: Measure) -> float | None:
        """Return the value of a cell with its transfer; None if it, or the size, is empty."""
        value, speed = candidate.value(dataset, measure), self.speed_of(measure)
        if value is None or speed is None:
            return value
        size = candidate.value(dataset, SIZE)
        return None if size is None else formulas.transferred(value, size, speed)


NO_TRANSFER = Speeds()
