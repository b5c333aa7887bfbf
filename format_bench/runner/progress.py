"""What a run has found so far, as a table that fits a terminal of 80 columns.

What a run shows while it runs: on a terminal a table that grows, elsewhere a line for each case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from format_bench.display.marks import BEST
from format_bench.display.units import human
from format_bench.results.candidates import Configuration
from format_bench.results.metrics import METRICS
from format_bench.results.records import key
from format_bench.results.suites import SUITES
from format_bench.runner.recording import keys
from format_bench.runner.timing import TimeLeft

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.results.records import Key, Record
    from format_bench.results.suites import Step


@dataclass(frozen=True)
class Column:
    """A metric in a state of the page cache."""

    title: str
    metric: str
    cache: str | None = None


def columns_of(suite: str, *, cold: bool) -> tuple[Column, ...]:
    """Return the columns of a suite's table; with cold reads after the warm ones if there are any."""
    metrics = [METRICS[name] for name in SUITES[suite].columns]
    columns = [Column(each.column, each.name, "warm" if each.cached else None) for each in metrics]
    if cold:
        after = [each.metric for each in columns].index("read time") + 1
        columns.insert(after, Column("cold", "read time", "cold"))
    return tuple(columns)


def name_of(what: Case | Record) -> str:
    """Return the name of a configuration, e.g. "Parquet zstd 3"."""
    return str(Configuration(what.format, what.codec, what.level))


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


SPARE_LINES = 6
"""Of a terminal, around the table."""


class Display:
    """Follows a run.

    Parameters
    ----------
    console : Console
        Where to show it; on a terminal in place, else line by line.
    cases : sequence of Case
        All cases of the run.
    steps : iterable of (Case, Step)
        What is left to make, once for each round.
    columns : sequence of Column
        What the table shows.
    records : iterable of Record
        What earlier runs have found.
    """

    def __init__(
        self,
        console: Console,
        cases: Sequence[Case],
        steps: Iterable[tuple[Case, Step]],
        columns: Sequence[Column],
        records: Iterable[Record],
    ) -> None:
        steps = list(steps)
        self._console, self._cases, self._columns = console, cases, columns
        self._found: dict[Key, Record] = {key(record): record for record in records}
        self._left = TimeLeft(steps)
        self._case: Case | None = None
        self._words = ""
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells, {task.description}"),
            console=console,
        )
        cells = sum(len(step.metrics) for _, step in steps)
        self._task = self._progress.add_task("", total=cells)
        self._live = Live(console=console, get_renderable=self._shown, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.end()
        if self._console.is_terminal:
            self._live.stop()
        else:
            self._line()

    def begin(self, case: Case, step: Step, number: int) -> None:
        """Show which step begins, and in which round."""
        if case != self._case and not self._console.is_terminal:
            self._line()
        self._case = case
        self._left.begin(case, step)
        self._words = f"round {number}: {name_of(case)} on {case.dataset}, {step.name}"

    def add(self, record: Record) -> None:
        """Show what has been found."""
        self._found[key(record)] = record
        self._progress.advance(self._task)

    def _shown(self) -> Group:
        self._progress.update(self._task, description=self._left.text())
        if self._case is None:
            return Group(self._progress)
        return Group(Text(self._words), self._progress, self._table(self._case))

    def _table(self, case: Case) -> Table:
        """Return the part of a data set's table around a case that has room on the screen."""
        names = names_on(case.dataset, self._cases)
        room = max(1, self._console.height - SPARE_LINES)
        first = max(0, min(names.index(name_of(case)) - room // 2, len(names) - room))
        records = [each for each in self._found.values() if each.dataset == case.dataset]
        shown = names[first : first + room]
        return table(case.dataset, shown, self._columns, records)[0]

    def _line(self) -> None:
        """Print what the last case has come to."""
        if self._case is None:
            return
        cells = {each for step in self._case.steps for each in keys(self._case, step)}
        found = {(r.metric, r.cache): r for each in cells if (r := self._found.get(each))}
        words = [
            f"{column.title} {human(record.value, record.unit)}"
            if record.value is not None
            else f"{column.title} {record.status}"
            for column in self._columns
            if (record := found.get((column.metric, column.cache)))
        ]
        done = self._progress.tasks[0]
        self._console.print(
            f"{done.completed:.0f}/{done.total:.0f} {name_of(self._case)} on {self._case.dataset}: "
            f"{', '.join(words)}",
            soft_wrap=True,
        )
