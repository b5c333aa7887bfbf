"""Speed of a disk below which smaller files are read faster, though they cost more CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from format_bench.results.display.text import quantity
from format_bench.studies.declared.selection import SIZE, Number, Numbers, counterparts


class BreakEven(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """CPU times with and without a codec; beside the claim's selection."""

    select: dict[str, Any]
    """CPU times of reads whose file is in the page cache."""
    over: dict[str, Any]
    """Fields in which the larger files differ."""
    published_speed: float
    """Bytes a second of the paper's disk."""

    def words(self, shared: dict[str, Any], numbers: Numbers) -> str:
        """Return up to which speed the best codec pays, and where the paper is; empty if unknown.

        It is unknown without CPU times, and there is none if no codec saves bytes, or CPU time as well.
        """
        found = max(self._speeds(shared, numbers), default=None, key=lambda each: each[0])
        if found is None:
            return ""
        speed, saved, extra, name = found
        limit, published = (f"{quantity(each, 'bytes')}/s" for each in (speed, self.published_speed))
        side = "below" if self.published_speed < speed else "above"
        bytes_saved, more = quantity(saved, "bytes"), quantity(extra, "seconds")
        return (
            f"true of a disk below {limit}: {name} saves {bytes_saved} for {more} more of CPU time; "
            f"the paper's disk gave {published}, which is {side}"
        )

    def _speeds(
        self, shared: dict[str, Any], numbers: Numbers
    ) -> Iterator[tuple[float, float, float, str]]:
        """Yield the speed, the bytes saved, the CPU seconds more and the name of each that pays."""

        def pairs(given: dict[str, Any]) -> Iterator[tuple[Number, Number]]:
            wanted = shared | self.select | given
            lower = numbers.select(wanted | self.over)
            return counterparts(numbers.select(wanted), lower, {*self.over, "rows"})

        apart = ("metric", "cache", "query", "rows")
        sizes = {
            smaller.without(apart): larger.value - smaller.value
            for smaller, larger in pairs({"metric": SIZE.metric, "cache": "warm"})
        }
        for slower, faster in pairs({}):
            saved = sizes.get(slower.without(apart), 0.0)
            extra = slower.value - faster.value
            if saved > 0 and extra > 0:
                yield saved / extra, saved, extra, slower.name
