"""What a run has found so far, as a table that fits a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from format_bench.display.marks import BEST
from format_bench.display.units import human

if TYPE_CHECKING:
    from format_bench.cases import Case, Suite
    from format_bench.results.records import Record


@dataclass(frozen=True)
class Column:
    """A metric in a state of the page cache."""

    title: str
    metric: str
    cache: str | None = None


_TIMES = (Column("save", "save time"), Column("read", "read time", "warm"))
_REST = (
    Column("size", "size"),
    Column("save mem.", "save memory"),
    Column("read mem.", "read memory", "warm"),
)
_TABULAR = (*_TIMES, *_REST, Column("lost", "lost columns"))
COLUMNS: dict[Suite, tuple[Column, ...]] = {
    "tabular": _TABULAR,
    "compression": _TABULAR,
    "image": (
        *_TIMES,
        Column("random", "random read time per image", "warm"),
        Column("batch", "batch read time per image", "warm"),
        *_REST,
    ),
}
COLD = Column("cold", "read time", "cold")


def columns_of(suite: Suite, *, cold: bool) -> tuple[Column, ...]:
    """Return the columns of a suite's table; with cold reads after the warm ones if there are any."""
    columns = COLUMNS[suite]
    return (*columns[:2], COLD, *columns[2:]) if cold else columns


def name_of(what: Case | Record) -> str:
    """Return format, codec and level in words, as in "Parquet, zstd 3"."""
    codec = f"{what.codec or ''} {'' if what.level is None else what.level}".strip()
    return f"{what.format}, {codec}" if codec else what.format


def names_on(dataset: str, cases: Iterable[Case]) -> list[str]:
    """Return the rows of a data set's table."""
    return list(dict.fromkeys(name_of(case) for case in cases if case.dataset == dataset))


def table(
    dataset: str, names: Sequence[str], columns: Sequence[Column], records: Iterable[Record]
) -> tuple[Table, list[str]]:
    """Return the table of one data set, and the sentences of cells without a value or with a remark.

    Parameters
    ----------
    dataset : str
        The title.
    names : sequence of str
        The rows, as `name_of` gives them; what has not been measured yet is blank.
    columns : sequence of Column
        What to show.
    records : iterable of Record
        Those of the data set.
    """
    found = {(name_of(each), each.metric, each.cache): each for each in records}
    shown = Table(title=dataset, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    shown.add_column("format", no_wrap=True)
    for column in columns:
        shown.add_column(column.title, justify="right", no_wrap=True)
    notes: dict[str, None] = {}
    best = {column: _best(found, names, column) for column in columns}
    for name in names:
        row = [Text(name)]
        for column in columns:
            record = found.get((name, column.metric, column.cache))
            row.append(_cell(name, record, best[column], notes))
        shown.add_row(*row)
    return shown, list(notes)


def _best(
    found: dict[tuple[str, str, str | None], Record], names: Iterable[str], column: Column
) -> float | None:
    records = (found.get((name, column.metric, column.cache)) for name in names)
    return min((each.value for each in records if each and each.value is not None), default=None)


def _cell(name: str, record: Record | None, best: float | None, notes: dict[str, None]) -> Text:
    if record is None:
        return Text("")
    if record.value is None:
        notes[f"{name}: {record.status}: {record.sentence}"] = None
        return Text(record.status.value, "yellow")
    if record.metric in ("lost columns", "changed images", "size") and record.sentence:
        notes[f"{name}: {record.sentence}"] = None
    is_best = record.value == best and record.unit in ("seconds", "bytes")
    text = human(record.value, record.unit)
    return Text(f"{text}{BEST}", "bold green") if is_best else Text(f"{text} ")
