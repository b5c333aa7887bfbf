"""Moments of a change: the states of the files after a kill or a power cut there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from format_bench.instruments.file_calls import FileCall, Kind
from format_bench.studies.surviving.disk import Disk, Tree

SECTOR_BYTES = 512
"""A write that is interrupted ends at a multiple of it in the file: the unit of devices."""


class Fault(StrEnum):
    """Fault at a moment; the value is its name in results."""

    KILL = "kill"
    KILL_IN_WRITE = "kill in a write"
    FULL = "full disk"
    POWER = "power cut"
    NAMES_FIRST = "power cut, names first"
    LAST_FIRST = "power cut, last write first"


@dataclass(frozen=True)
class State:
    """Files that a fault at a moment leaves."""

    fault: Fault
    number: int
    """Calls that were made before."""
    call: str
    """The call before which, or within which, it happens."""
    tree: Tree


END = "after the last call"


def spread(total: int, most: int) -> list[int]:
    """Return numbers from 0 to `total`, both included: all, or as many as asked, evenly spread."""
    if total < most:
        return list(range(total + 1))
    return sorted({round(place * total / (most - 1)) for place in range(most)})


def states(before: Mapping[str, bytes | None], calls: Sequence[FileCall], most: int) -> Iterator[State]:
    """Yield the states of the files after each fault that can be replayed.

    Parameters
    ----------
    before : mapping
        The files before the first call.
    calls : sequence of FileCall
        The calls of the change.
    most : int
        Moments of each fault, at least 2; fewer if there are fewer calls, or sectors in writes.
    """
    disk, moments, cuts = Disk(before), set(spread(len(calls), most)), _cuts(calls, most)
    for number in range(len(calls) + 1):
        if number:
            disk.apply(calls[number - 1])
        following = str(calls[number]) if number < len(calls) else END
        if number in moments:
            yield State(Fault.KILL, number, following, disk.now())
            yield State(Fault.POWER, number, following, disk.synced())
            yield State(Fault.NAMES_FIRST, number, following, disk.names_first())
            yield State(Fault.LAST_FIRST, number, following, disk.last_first())
        for length in cuts.get(number, ()):
            call = f"{following}, of which {length:,}"
            yield State(Fault.KILL_IN_WRITE, number, call, disk.now(calls[number], length))


def _cuts(calls: Sequence[FileCall], most: int) -> dict[int, list[int]]:
    """Return lengths of interrupted writes by the number of the call, evenly spread over all bytes."""
    writes = [(number, call) for number, call in enumerate(calls) if call.kind is Kind.WRITE]
    total = sum(len(call.data) for _, call in writes)
    wanted = [total * (place + 1) // (most + 1) for place in range(most)]
    found: dict[int, list[int]] = {}
    start = 0
    for number, call in writes:
        end = start + len(call.data)
        for place in wanted:
            if start <= place < end:
                length = (call.at + place - start) // SECTOR_BYTES * SECTOR_BYTES - call.at
                lengths = found.setdefault(number, [])
                if length > 0 and length not in lengths:
                    lengths.append(length)
        start = end
    return found
