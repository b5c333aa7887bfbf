"""What a value measures: a metric, and for reads whether the page cache was cold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.errors import UnknownNameError

if TYPE_CHECKING:
    from format_bench.results.records import Record


METRICS = {
    "save time": "seconds",
    "durable save time": "seconds",
    "read time": "seconds",
    "save CPU time": "seconds",
    "read CPU time": "seconds",
    "size": "bytes",
    "save memory": "bytes",
    "read memory": "bytes",
    "held memory": "bytes",
    "save peak memory": "bytes",
    "read peak memory": "bytes",
    "lost columns": "columns",
    "open time": "seconds",
    "random read time per image": "seconds",
    "batch read time per image": "seconds",
    "files": "files",
    "changed images": "images",
    "read amplification": "ratio",
}
"""What is measured, and its unit."""


_COLD = "cold "


@dataclass(frozen=True)
class Measure:
    """A metric under one state of the page cache, so that values of different formats compare."""

    metric: str
    """One of `METRICS`."""
    cold: bool = False
    """Whether nothing was in the page cache; what the cache has no bearing on is not cold."""

    @classmethod
    def of(cls, record: Record) -> Measure:
        """Return what a record measures."""
        return cls(record.metric, record.cache == "cold")

    @classmethod
    def named(cls, name: str) -> Measure:
        """Return the measure that is written as "read_time" or "cold read time".

        Raises
        ------
        UnknownNameError
            If there is no such metric; the message lists near ones.
        """
        words = name.replace("_", " ").replace("-", " ")
        metric = words.removeprefix(_COLD)
        exact = next((each for each in METRICS if each.lower() == metric.lower()), None)
        if exact is None:
            raise UnknownNameError("metric", name, [each.replace(" ", "_") for each in METRICS])
        return cls(exact, cold=words.startswith(_COLD))

    @property
    def unit(self) -> str:
        """The unit of its values, as in `METRICS`."""
        return METRICS[self.metric]

    @property
    def option(self) -> str:
        """How it is written on the command line."""
        return str(self).replace(" ", "_")

    def __str__(self) -> str:
        return _COLD * self.cold + self.metric
