"""The words of the grid's tables: what stands in a cell, and in the notes below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from format_bench.compression import added_seconds
from format_bench.display.markdown import reference
from format_bench.display.marks import BEST
from format_bench.display.units import human

if TYPE_CHECKING:
    from format_bench.results.records import Record

NOTHING = "-"
"""Where there is nothing to compare with."""


def name_of(label: str, codec: str | None, level: int | None) -> str:
    """Return format, codec and level in words, as in "Parquet, zstd 3"."""
    compression = f"{codec or 'none'} {'' if level is None else level}"
    return f"{label}, {compression.strip()}"


def best_of(records: Iterable[Record]) -> float | None:
    """Return the smallest value; None if there is none."""
    return min((record.value for record in records if record.value is not None), default=None)


def value(found: Record, best: float | None, notes: list[str], ratio: str = "") -> str:
    """Return the value of a cell, or why it has none; with a remark on a codec that was declined.

    Parameters
    ----------
    found : Record
        The cell.
    best : float, optional
        The smallest value of those compared, which is marked.
    notes : list of str
        The sentences below the table, to which reasons and remarks are added.
    ratio : str
        What stands in brackets behind the value.
    """
    if found.value is None:
        return f"{found.status} {reference(_reason(found), notes)}"
    text = human(found.value, found.unit) + (BEST if found.value == best else "")
    if ratio:
        text += f" ({ratio})"
    if found.metric == "size" and found.sentence:
        text += f" {reference(found.sentence, notes)}"
    return text


def ratio(found: Record, plain: Record) -> str:
    """Return the size of a cell by that of the uncompressed one."""
    if found.value is None or not plain.value:
        return NOTHING
    return f"{found.value / plain.value:.3f}"


def added(found: Record, plain: Record) -> str:
    """Return by how much the median time differs from the uncompressed one's, with the interval."""
    if found.value is None or plain.value is None:
        return NOTHING
    low, high = added_seconds(found.repeats, plain.repeats)
    return f"{_signed(found.value - plain.value)} ({_signed(low)} to {_signed(high)})"


def _reason(found: Record) -> str:
    # Sentences of adapters name the format, and hold for all levels.
    if found.sentence.startswith(found.format):
        return found.sentence
    name = name_of(found.format, found.codec, found.level)
    return f"{name}: {found.status}: {found.sentence}"


def _signed(seconds: float) -> str:
    return ("-" if seconds < 0 else "+") + human(abs(seconds), "seconds")
