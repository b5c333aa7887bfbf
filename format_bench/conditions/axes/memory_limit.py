"""Limit of the memory of a measuring process, enforced by the kernel where it permits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis, Surroundings
from format_bench.instruments import memory_limit
from format_bench.instruments.isolation import Outcome
from format_bench.results.display.text import size_of, size_text
from format_bench.results.status import CellStatus

# A fork of the server starts with what it shares, but no library can be imported in less.
LEAST_BYTES = 16 << 20


class MemoryLimit(Axis):
    """Memory that a step may use, its page cache included where the kernel counts that."""

    name = "memory limit"
    help = "Memory limit of each measuring process, e.g. 1G or 512M,4G. [default: none]"
    order = 40

    def parse(self, text: str) -> str:
        """Return the size in bytes, with its unit."""
        limit_bytes = size_of(text)
        if limit_bytes is None:
            raise InvalidRequestError(f"{self.option} {text}: not a size; write e.g. 512M or 4G")
        if limit_bytes < LEAST_BYTES:
            raise InvalidRequestError(f"{self.option} {text}: nothing runs in less than 16M")
        return size_text(limit_bytes)

    @contextmanager
    def surrounded(self, value: str) -> Iterator[Surroundings]:
        """Make the limit that the processes enter."""
        with memory_limit.limited(size_of(value) or 0) as limit:
            yield Surroundings(entered=limit.enter)

    def explained(self, value: str, outcome: Outcome) -> Outcome:
        """Name the limit where the kernel killed the process: under it, that is the answer."""
        if outcome.status is CellStatus.FAILED and "(SIGKILL)" in outcome.sentence:
            return replace(outcome, sentence=f"it needs more than {value} of memory")
        return outcome
