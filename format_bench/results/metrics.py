"""Metrics with their units, and measures: a metric under a state of the page cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
"""Unit by metric."""


_COLD = "cold "


class Measure(NamedTuple):
    """A metric, and the state of the page cache in which it was measured."""

    metric: str
    """One of `METRICS`."""
    cache: str | None = None
    """"warm" or "cold"; None where the cache has no bearing, or is not recorded."""

    @classmethod
    def of(cls, record: Record) -> Measure:
        """Return the measure of a record."""
        return cls(record.metric, record.cache)

    @classmethod
    def named(cls, name: str) -> Measure:
        """Return the measure of a name such as "read_time" or "cold read time".

        Raises
        ------
        UnknownNameError
            If the metric does not exist; the message lists near ones.
        """
        words = name.replace("_", " ").replace("-", " ")
        metric = words.removeprefix(_COLD)
        exact = next((each for each in METRICS if each.lower() == metric.lower()), None)
        if exact is None:
            raise UnknownNameError("metric", name, [each.replace(" ", "_") for each in METRICS])
        return cls(exact, _COLD.strip() if words.startswith(_COLD) else None)

    @property
    def comparable(self) -> Measure:
        """The same measure without "warm", which some suites record and others take for granted."""
        return self if self.cache == "cold" else Measure(self.metric)

    @property
    def unit(self) -> str:
        """The unit of its values, one of those of `METRICS`."""
        return METRICS[self.metric]

    @property
    def phrase(self) -> str:
        """The name inside a sentence, e.g. "cold read time"."""
        return f"{self.cache} {self.metric}" if self.cache else self.metric

    @property
    def option(self) -> str:
        """The name on the command line, e.g. "cold_read_time"."""
        return self.phrase.replace(" ", "_")

    def __str__(self) -> str:
        """Return the name in headings, e.g. "read time, cold"."""
        return f"{self.metric}, {self.cache}" if self.cache else self.metric
