"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked.

Tables of what compression saves and costs: a row for each format and codec.

The derived metrics are those of the thesis: compression ratio, the size with the codec by that without;
added save time and added read time, the differences of the medians, negative where compression pays.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from format_bench.asv_support.results import AsvCell
from format_bench.display.markdown import Table, reference
from format_bench.display.marks import BEST, TIE
from format_bench.display.units import human
from format_bench.instruments.intervals import median_interval
from format_bench.results.metrics import BY_BENCHMARK

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


PROCESS_PEAK = "peak memory"
"""Ends the name of a metric that counts imports and the table to save too."""


def tables(cells: Iterable[AsvCell], floors: Floors | None = None) -> list[Table]:
    """Return tables for each data set, of times and of the rest, in the order of the cells.

    Cells with a codec have tables of their own, see `asv_support.comparison`. Ties are marked if the
    noise floors are given. The peak memory of whole processes is left out: the growth during the call
    says it better.
    """
    by_title: dict[str, list[AsvCell]] = {}
    for cell in cells:
        if not cell.metric.endswith(PROCESS_PEAK) and "codec" not in cell.axes:
            by_title.setdefault(f"{cell.dataset}: {_kind(cell)}", []).append(cell)
    datasets = list(dict.fromkeys(title.partition(":")[0] for title in by_title))
    in_order = sorted(by_title, key=lambda title: datasets.index(title.partition(":")[0]))
    return [_table(title, by_title[title], floors) for title in in_order]


def _kind(cell: AsvCell) -> str:
    if cell.unit != "seconds":
        return "size, memory and losses"
    random = cell.benchmark.startswith("image.ImageRandom") or cell.metric == "open time"
    return "random access" if random else "time"


def _table(title: str, cells: list[AsvCell], floors: Floors | None) -> Table:
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    formats = list(dict.fromkeys(cell.format for cell in cells))
    best = {metric: min(_values(cells, metric), default=None) for metric in metrics}
    found = {(cell.format, cell.metric): cell for cell in cells}
    notes: list[str] = []
    rows = []
    for label in formats:
        row = [label]
        for metric in metrics:
            cell = found.get((label, metric))
            row.append(_text(cell, best[metric], floors, notes) if cell else "not run")
        rows.append(row)
    return Table(title, ["format", *metrics], rows, notes)


def _values(cells: list[AsvCell], metric: str) -> list[float]:
    return [cell.value for cell in cells if cell.metric == metric and cell.value is not None]


def _text(cell: AsvCell, best: float | None, floors: Floors | None, notes: list[str]) -> str:
    if cell.value is None:
        return f"{cell.status} {reference(f'{cell.format}: {cell.status}: {cell.sentence}', notes)}"
    mark = mark_of(cell, best, floors)
    if cell.sentence:
        mark += f" {reference(f'{cell.format}: {cell.sentence}', notes)}"
    return human(cell.value, cell.unit) + mark


def mark_of(cell: AsvCell, best: float | None, floors: Floors | None) -> str:
    """Return `BEST`, `TIE` or nothing, for a cell with a value beside the smallest value."""
    if cell.value == best:
        return BEST
    bound = (
        (best or 0) * (1 + floors.of(BY_BENCHMARK[cell.benchmark.rpartition(".")[2]].name))
        if floors
        else 0
    )
    return TIE if cell.value is not None and cell.value <= bound else ""


def legend(floors: Floors | None) -> str:
    """Return what the marks mean."""
    text = f"{BEST} best of the metric; smaller is better"
    if floors:
        return f"{text}. {TIE} a tie with the best: less apart than noise is here ({floors})."
    return f"{text}. Ties are not marked: this machine's noise has not been measured."


def comma_separated(cells: Iterable[AsvCell]) -> str:
    """Return all cells as CSV, one a row; an empty cell has no value but a status and a sentence."""
    text = io.StringIO()
    names = [field.name for field in fields(AsvCell) if field.name not in ("axes", "samples")]
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in cells)
    return text.getvalue()


METRICS = ("size", "save time", "read time")

_HEADER = ["format", "codec", "size", "ratio", "save time", "added", "read time", "added"]

Found = dict[tuple[str, str, str], "AsvCell"]
"""Cells of one data set by format, codec and metric."""


def compression_tables(cells: Iterable[AsvCell], floors: Floors | None = None) -> list[Table]:
    """Return a table for each data set that was compressed: by codec, so that formats stand together."""
    by_dataset: dict[str, Found] = {}
    for cell in cells:
        if "codec" in cell.axes:
            metric = cell.metric.partition(",")[0]
            found = by_dataset.setdefault(cell.dataset, {})
            found[cell.format, cell.axes["codec"], metric] = cell
    return [
        _compression_table(f"{dataset}: compression", each, floors)
        for dataset, each in by_dataset.items()
    ]


def _compression_table(title: str, found: Found, floors: Floors | None) -> Table:
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


def _value(cell: AsvCell | None, best: float | None, floors: Floors | None, notes: list[str]) -> str:
    if cell is None:
        return "not run"
    if cell.value is None:
        note = f"{cell.format}, {cell.axes['codec']}: {cell.status}: {cell.sentence}"
        return f"{cell.status} {reference(note, notes)}"
    mark = mark_of(cell, best, floors)
    if cell.sentence:
        mark += f" {reference(cell.sentence, notes)}"
    return human(cell.value, cell.unit) + mark


def _beside(cell: AsvCell | None, plain: AsvCell | None) -> str:
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
