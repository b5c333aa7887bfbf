"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from format_bench.asv_results import Cell
from format_bench.display.markdown import Table, reference
from format_bench.display.marks import BEST, TIE
from format_bench.display.units import human

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


PROCESS_PEAK = "peak memory"
"""Ends the name of a metric that counts imports and the table to save too."""


def tables(cells: Iterable[Cell], floors: Floors | None = None) -> list[Table]:
    """Return tables for each data set, of times and of the rest, in the order of the cells.

    Cells with a codec have tables of their own, see `format_bench.compression`. Ties are marked if the
    noise floors are given. The peak memory of whole processes is left out: the growth during the call
    says it better.
    """
    by_title: dict[str, list[Cell]] = {}
    for cell in cells:
        if not cell.metric.endswith(PROCESS_PEAK) and "codec" not in cell.axes:
            by_title.setdefault(f"{cell.dataset}: {_kind(cell)}", []).append(cell)
    datasets = list(dict.fromkeys(title.partition(":")[0] for title in by_title))
    in_order = sorted(by_title, key=lambda title: datasets.index(title.partition(":")[0]))
    return [_table(title, by_title[title], floors) for title in in_order]


def _kind(cell: Cell) -> str:
    if cell.unit != "seconds":
        return "size, memory and losses"
    random = cell.benchmark.startswith("image.ImageRandom") or cell.metric == "open time"
    return "random access" if random else "time"


def _table(title: str, cells: list[Cell], floors: Floors | None) -> Table:
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


def _values(cells: list[Cell], metric: str) -> list[float]:
    return [cell.value for cell in cells if cell.metric == metric and cell.value is not None]


def _text(cell: Cell, best: float | None, floors: Floors | None, notes: list[str]) -> str:
    if cell.value is None:
        return f"{cell.status} {reference(f'{cell.format}: {cell.status}: {cell.sentence}', notes)}"
    mark = mark_of(cell, best, floors)
    if cell.sentence:
        mark += f" {reference(f'{cell.format}: {cell.sentence}', notes)}"
    return human(cell.value, cell.unit) + mark


def mark_of(cell: Cell, best: float | None, floors: Floors | None) -> str:
    """Return `BEST`, `TIE` or nothing, for a cell with a value beside the smallest value."""
    if cell.value == best:
        return BEST
    bound = (best or 0) * (1 + floors.of(cell.metric, cell.unit)) if floors else 0
    return TIE if cell.value is not None and cell.value <= bound else ""


def legend(floors: Floors | None) -> str:
    """Return what the marks mean."""
    text = f"{BEST} best of the metric; smaller is better"
    if floors:
        return f"{text}. {TIE} a tie with the best: less apart than noise is here ({floors})."
    return f"{text}. Ties are not marked: this machine's noise has not been measured."


def comma_separated(cells: Iterable[Cell]) -> str:
    """Return all cells as CSV, one a row; an empty cell has no value but a status and a sentence."""
    text = io.StringIO()
    names = [field.name for field in fields(Cell) if field.name not in ("axes", "samples")]
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in cells)
    return text.getvalue()
