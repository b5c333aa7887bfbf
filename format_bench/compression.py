"""Tables of what compression saves and costs: a row for each format and codec.

The derived metrics are those of the thesis: compression ratio, the size with the codec by that without;
added save time and added read time, the differences of the medians, negative where compression pays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from format_bench.comparison import mark_of
from format_bench.display.markdown import Table, reference
from format_bench.display.units import human
from format_bench.instruments.intervals import median_interval

if TYPE_CHECKING:
    from format_bench.asv_results import Cell
    from format_bench.results.noise_floor import Floors

METRICS = ("size", "save time", "read time")

_HEADER = ["format", "codec", "size", "ratio", "save time", "added", "read time", "added"]

Found = dict[tuple[str, str, str], "Cell"]
"""Cells of one data set by format, codec and metric."""


def tables(cells: Iterable[Cell], floors: Floors | None = None) -> list[Table]:
    """Return a table for each data set that was compressed: by codec, so that formats stand together."""
    by_dataset: dict[str, Found] = {}
    for cell in cells:
        if "codec" in cell.axes:
            metric = cell.metric.partition(",")[0]
            found = by_dataset.setdefault(cell.dataset, {})
            found[cell.format, cell.axes["codec"], metric] = cell
    return [_table(f"{dataset}: compression", each, floors) for dataset, each in by_dataset.items()]


def _table(title: str, found: Found, floors: Floors | None) -> Table:
    notes: list[str] = []
    codecs = dict.fromkeys(codec for _, codec, _ in found)
    formats = dict.fromkeys(label for label, _, _ in found)
    best = {
        metric: min((c.value for (_, _, m), c in found.items() if m == metric and c.value), default=None)
        for metric in METRICS
    }
    rows = []
    for codec in codecs:
        for label in formats:
            row = [label, codec]
            for metric in METRICS:
                cell, plain = (found.get((label, each, metric)) for each in (codec, "none"))
                row += [_value(cell, best[metric], floors, notes), _beside(cell, plain)]
            rows.append(row)
    return Table(title, _HEADER, rows, notes)


def _value(cell: Cell | None, best: float | None, floors: Floors | None, notes: list[str]) -> str:
    if cell is None:
        return "not run"
    if cell.value is None:
        note = f"{cell.format}, {cell.axes['codec']}: {cell.status}: {cell.sentence}"
        return f"{cell.status} {reference(note, notes)}"
    mark = mark_of(cell, best, floors)
    if cell.sentence:
        mark += f" {reference(cell.sentence, notes)}"
    return human(cell.value, cell.unit) + mark


def _beside(cell: Cell | None, plain: Cell | None) -> str:
    """Return how a cell relates to the one without compression: a ratio of sizes, or an added time."""
    if cell is None or plain is None or cell.value is None or plain.value is None:
        return "-"
    if cell.unit == "bytes":
        return f"{cell.value / plain.value:.3f}"
    low, high = added_seconds(cell.samples, plain.samples)
    return f"{_signed(cell.value - plain.value)} ({_signed(low)} to {_signed(high)})"


def added_seconds(samples: list[float], plain: list[float]) -> tuple[float, float]:
    """Return the interval of the difference of two medians.

    It reaches from the lower end of one median's interval less the upper end of the other's to the
    opposite: wider than need be, and so covering the difference at least as often as both intervals do.
    """
    one, other = median_interval(samples), median_interval(plain)
    return one.low - other.high, one.high - other.low


def _signed(seconds: float) -> str:
    return ("-" if seconds < 0 else "+") + human(abs(seconds), "seconds")
