"""What a run shows while it runs: on a terminal a table that grows, elsewhere a line for each case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from format_bench import run_table
from format_bench.case_records import keys
from format_bench.cases import Case, Step, steps_of
from format_bench.display.units import human
from format_bench.results.records import key
from format_bench.run_table import name_of
from format_bench.time_left import TimeLeft

if TYPE_CHECKING:
    from rich.table import Table

    from format_bench.results.records import Key, Record
    from format_bench.run_table import Column

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
        names = run_table.names_on(case.dataset, self._cases)
        room = max(1, self._console.height - SPARE_LINES)
        first = max(0, min(names.index(name_of(case)) - room // 2, len(names) - room))
        records = [each for each in self._found.values() if each.dataset == case.dataset]
        shown = names[first : first + room]
        return run_table.table(case.dataset, shown, self._columns, records)[0]

    def _line(self) -> None:
        """Print what the last case has come to."""
        if self._case is None:
            return
        cells = {each for step in steps_of(self._case) for each in keys(self._case, step)}
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
