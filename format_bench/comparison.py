"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from format_bench.asv_results import Cell

if TYPE_CHECKING:
    from format_bench.noise_floor import Floors

PROCESS_PEAK = "peak memory"
"""Ends the name of a metric that counts imports and the table to save too."""

BEST = "*"
"""Mark of the smallest value of a metric; smaller is always better."""

TIE = "="
"""Mark of a value that differs from the smallest by no more than noise does."""


@dataclass(frozen=True)
class Table:
    """One comparison, as text."""

    title: str
    header: list[str]
    rows: list[list[str]]
    """A row for each format, the format first."""
    notes: list[str]
    """A sentence for each kind of empty cell, in the order of their numbers."""


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


def reference(note: str, notes: list[str]) -> str:
    """Return the number of a note in brackets; the same note has one number."""
    if note not in notes:
        notes.append(note)
    return f"[{notes.index(note) + 1}]"


def human(value: float, unit: str) -> str:
    """Return a value with three digits and a unit of handy size, as in "1.25 ms" or "43 MB".

    Raises
    ------
    ValueError
        If there is no such unit.
    """
    if unit not in _STEPS:
        raise ValueError(f"{unit!r} is none of {', '.join(_STEPS)}")
    # 999.5 and more is rounded to the next unit's 1.
    fitting = [step for step in _STEPS[unit] if value >= 0.9995 * step[0]]
    size, name = (fitting or _STEPS[unit][-1:])[0]
    return f"{float(f'{value / size:.3g}'):g} {name}".strip()


# From the largest to the smallest; the prefixes are those of the SI.
_STEPS = {
    "seconds": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    **dict.fromkeys(("columns", "files", "images"), ((1, ""),)),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
}


def markdown(table: Table) -> str:
    """Return a table in Markdown, with its notes."""
    lines = [f"## {table.title}", ""]
    for row in (table.header, ["---"] + ["--:"] * (len(table.header) - 1), *table.rows):
        lines.append("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |")
    lines.append("")
    lines += [f"{number}. {note}" for number, note in enumerate(table.notes, start=1)]
    return "\n".join(lines) + "\n"


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
