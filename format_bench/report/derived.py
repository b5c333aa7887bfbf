"""What compression saves and costs, as `format_bench.asv_support.comparison` defines it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import quantity, signed
from format_bench.results.candidates import Configuration
from format_bench.results.groups import ResultCell
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.results.groups import ComparisonGroup


@dataclass(frozen=True)
class Derived:
    """A quantity that relates a cell to the same format without a codec."""

    title: str
    note: str
    """How to read it."""
    show: Callable[[float, str], str]
    """Returns a value as text, given its unit."""
    measures: tuple[Measure, ...]
    """Those it can be derived from; the first that a group has counts."""
    relate: Callable[[ResultCell, ResultCell], ResultCell]
    """Takes the cell and the one without a codec, both with values."""


def _ratio(cell: ResultCell, plain: ResultCell) -> ResultCell:
    share = (cell.value or 0) / (plain.value or 1)
    return ResultCell("ratio", share, None, [], "value", "")


def _added(cell: ResultCell, plain: ResultCell) -> ResultCell:
    """Return the difference, with the interval that `compression.added_seconds` gives it."""
    value, plain_value = cell.value or 0, plain.value or 0
    low, high = cell.interval or (value, value)
    plain_low, plain_high = plain.interval or (plain_value, plain_value)
    return ResultCell(
        "seconds", value - plain_value, (low - plain_high, high - plain_low), [], "value", ""
    )


_PAYS = "what the codec adds; negative where it pays"
DERIVED = (
    Derived(
        "Size with the codec",
        "by the size without it, in the same format",
        quantity,
        (Measure("size"),),
        _ratio,
    ),
    Derived("Added save time", _PAYS, signed, (Measure("save time"),), _added),
    Derived(
        "Added read time", _PAYS, signed, (Measure("read time", "warm"), Measure("read time")), _added
    ),
)


def derive(derived: Derived, group: ComparisonGroup) -> dict[Configuration, ResultCell]:
    """Return the derived cells of the entries with a codec; none of those that lack a value."""
    measure = next((each for each in derived.measures if each in group.measures), derived.measures[0])
    found = {}
    for entry in group.configurations:
        cell, plain = group.cell(entry, measure), group.cell(Configuration(entry.format), measure)
        if entry.codec is not None and cell.value is not None and plain.value:
            found[entry] = derived.relate(cell, plain)
    return found
