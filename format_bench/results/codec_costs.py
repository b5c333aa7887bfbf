"""Savings and costs of codecs: size, save time and read time beside the same format uncompressed.

The derived metrics of the thesis: the compression ratio is the size with the codec by that without it;
added save time and added read time are differences of medians, negative where compression pays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from format_bench.results.candidates import Configuration
from format_bench.results.display.text import signed
from format_bench.results.groups import ComparisonGroup, ResultCell
from format_bench.results.metrics import Measure


@dataclass(frozen=True)
class CodecCost:
    """A quantity that relates a configuration with a codec to the one without."""

    title: str
    note: str
    """An explanation for readers."""
    show: Callable[[float, str], str]
    """Format a value, given its unit."""
    measures: tuple[Measure, ...]
    """The measures it can be derived from; the first that a group has counts."""
    relate: Callable[[ResultCell, ResultCell], ResultCell]
    """Combine the cell with the codec and the one without, both with values."""

    def measure_in(self, group: ComparisonGroup) -> Measure:
        """Return the measure that it is derived from in a group."""
        return next((each for each in self.measures if each in group.measures), self.measures[0])

    def text(self, cell: ResultCell, plain: ResultCell) -> str:
        """Return the quantity as text, of a cell with the codec and the one without."""
        related = self.relate(cell, plain)
        return self.show(related.value or 0, related.unit)


def _ratio(cell: ResultCell, plain: ResultCell) -> ResultCell:
    ratio = (cell.value or 0) / (plain.value or 1)
    return ResultCell("ratio", ratio, None, [], "value", "")


def _added(cell: ResultCell, plain: ResultCell) -> ResultCell:
    """Return the difference of two medians and its interval.

    The interval reaches from the lower end of one median's interval less the upper end of the other's
    to the opposite: it is wider than need be, and so covers the difference at least as often as both
    intervals cover their medians. There is none where one of them is missing.
    """
    ends = None
    if cell.interval and plain.interval:
        (low, high), (plain_low, plain_high) = cell.interval, plain.interval
        ends = low - plain_high, high - plain_low
    return ResultCell(cell.unit, (cell.value or 0) - (plain.value or 0), ends, [], "value", "")


def _three_decimals(value: float, _unit: str) -> str:
    return f"{value:.3f}"


_SAVED = "what the codec adds; negative where it pays"
SIZE_RATIO = CodecCost(
    "Size with the codec",
    "by the size without it, in the same format",
    _three_decimals,
    (Measure("size"),),
    _ratio,
)
CODEC_COSTS = (
    SIZE_RATIO,
    CodecCost("Added save time", _SAVED, signed, (Measure("save time"),), _added),
    # Warm where the suite measures both states; some suites do not record that reads are warm.
    CodecCost(
        "Added read time", _SAVED, signed, (Measure("read time", "warm"), Measure("read time")), _added
    ),
)


def codec_costs(cost: CodecCost, group: ComparisonGroup) -> dict[Configuration, ResultCell]:
    """Return the cost of each configuration with a codec, if both it and the plain one have values."""
    measure = cost.measure_in(group)
    found = {}
    for each in group.configurations:
        cell = group.cell(each, measure)
        plain = group.cell(each.uncompressed, measure)
        if each != each.uncompressed and cell.value is not None and plain.value:
            found[each] = cost.relate(cell, plain)
    return found
