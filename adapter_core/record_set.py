"""Set of records of one type, made on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from adapter_core.record_digest import digest
from adapter_core.record_type import RecordType

# A generator makes a block at a time, so that a data set larger than memory can be digested.
BLOCK_ROWS = 2**16


class RecordSet:
    """Records, in memory from the first use of `objects` on.

    Parameters
    ----------
    of : RecordType
        Their type.
    count : int
        Number of records.
    make : callable
        Returns the objects from a first to before a last position, anew by each call.
    name : str
        Name of the data set whose first `count` records these are; else empty.
    """

    def __init__(
        self, of: RecordType, count: int, make: Callable[[int, int], list[Any]], name: str = ""
    ) -> None:
        self.of = of
        self.count = count
        self.name = name
        self._make = make

    @classmethod
    def of_objects(cls, of: RecordType, objects: Sequence[Any]) -> RecordSet:
        """Return a set of given objects."""
        return cls(of, len(objects), lambda start, stop: list(objects[start:stop]))

    def __len__(self) -> int:
        """Return the number of records."""
        return self.count

    @cached_property
    def objects(self) -> list[Any]:
        """All objects, kept from the first use on."""
        return list(self.iterate())

    def iterate(self) -> Iterator[Any]:
        """Return an iterator that makes the objects anew, and keeps no more than a block of them."""
        starts = range(0, self.count, BLOCK_ROWS)
        return chain.from_iterable(
            self._make(start, min(start + BLOCK_ROWS, self.count)) for start in starts
        )

    @cached_property
    def digest(self) -> str:
        """Digest of all fields, see `adapter_core.record_digest`."""
        return digest(map(self.of.plain, self.iterate()), self.of)

    def take(self, positions: Sequence[int]) -> RecordSet:
        """Return the records at some positions."""
        wanted = set(positions)
        found = {place: each for place, each in enumerate(self.iterate()) if place in wanted}
        return self.of_objects(self.of, [found[place] for place in positions])
