"""What stands in one place of a chart or a table: a value with its interval, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from format_bench.display.text import printable

if TYPE_CHECKING:
    from format_bench.results.records import Record


class Entry(NamedTuple):
    """What is compared: a format, with or without a codec."""

    format: str
    """The label, as in "Parquet[polars]"."""
    codec: str | None = None
    level: int | None = None

    def __str__(self) -> str:
        """Return a name, as in "Parquet zstd 3"."""
        level = "" if self.level is None else f" {self.level}"
        return printable(f"{self.format} {self.codec or ''}{level}")

    @property
    def place(self) -> tuple[str, str, str, int]:
        """A sort key: by name, and of one format first what is not compressed."""
        return self.format.casefold(), self.format, self.codec or "", self.level or 0


class Measure(NamedTuple):
    """What was measured, and with the file in which state of the page cache."""

    metric: str
    """One of `format_bench.results.metrics.METRICS`."""
    cache: str | None = None
    """"warm" or "cold"; None where it does not apply."""

    def __str__(self) -> str:
        """Return a name, as in "read time, cold"."""
        return self.metric + (f", {self.cache}" if self.cache else "")


@dataclass(frozen=True)
class Cell:
    """A value, or why there is none."""

    unit: str
    value: float | None
    interval: tuple[float, float] | None
    """The lower and the upper end, in `unit`."""
    samples: list[float]
    """All samples in the order taken, in `unit`; possibly none."""
    status: str
    """"value", or why there is none; one of `format_bench.results.status.Status`, or "not run"."""
    sentence: str
    """On one line; may be empty if there is a value."""


NOT_RUN = Cell("", None, None, [], "not run", "the results hold no record of it")


def cell_of(record: Record) -> Cell:
    """Return what a record says of its cell."""
    low_high = (record.interval[0], record.interval[1]) if record.interval else None
    sentence = printable(record.sentence)
    return Cell(record.unit, record.value, low_high, record.repeats, record.status.value, sentence)
