"""Progress of a run: on a terminal a table that grows, elsewhere a line for each case; and its times."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from adapter_core.text import visible
from format_bench.instruments.clock import ON_CLOCK
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import threads_in_words
from format_bench.results.display.terminal import rich_table
from format_bench.results.display.text import duration, quantity
from format_bench.results.groups import NOT_RUN, ComparisonGroup
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Key, Record, key
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES, Step
from format_bench.results.table import FormattedCell, ResultTable, measured_column, style_of
from format_bench.runner.result_store import keys

if TYPE_CHECKING:
    from rich.table import Table

    from format_bench.families.cases import Case


class MeasureColumn(NamedTuple):
    """A measure with a title short enough for a terminal of 80 columns."""

    title: str
    measure: Measure


# Questions of a user that have a column in the narrow table; the report has all.
MOST_QUESTIONS = 5


def columns_of(suite: str, *, cold: bool, questions: Iterable[str] = ()) -> tuple[MeasureColumn, ...]:
    """Return the columns of a suite's table; with cold reads after the warm ones if there are any.

    The times of a user's questions take the place of the suite's.
    """
    columns = []
    names = list(SUITES[suite].columns)
    if asked := [f"query time of {each}" for each in itertools.islice(questions, MOST_QUESTIONS)]:
        names = [*(each for each in names if " of " not in each), *asked]
    for name in names:
        metric_name, _, query = name.partition(" of ")
        metric = METRICS[metric_name]
        measure = Measure(metric_name, "warm" if metric.cached else None, query)
        columns.append(MeasureColumn(query or metric.column, measure))
        if cold and name == "read time":
            columns.append(MeasureColumn("cold", measure._replace(cache="cold")))
    return tuple(columns)


def configuration_of(case: Case) -> Configuration:
    """Return the configuration of a case, without the thread policy, which each table has one of."""
    return Configuration(
        *(case.format, case.codec, case.level),
        track=case.track,
        settings=case.conditions.get("settings", ""),
        error_bound=case.conditions.get("error bound", ""),
        family=case.family.name,
    )


def records_of_cases(records: Iterable[Record], cases: Iterable[Case]) -> list[Record]:
    """Return the records that belong to some cases."""
    cells = {each for case in cases for step in case.steps for each in keys(case, step)}
    return [record for record in records if key(record) in cells]


def tables_of(cases: Iterable[Case]) -> list[Case]:
    """Return a case of each table of a run: of each place, and of each thread policy there."""
    return list({(each.place, each.threads): each for each in cases}.values())


def place_among(case: Case, cases: Iterable[Case]) -> str:
    """Return the place of a case, with its thread policy if cases of several are compared."""
    several = len({each.threads for each in cases}) > 1
    return f"{case.place}, {threads_in_words(case.threads)}" if several else case.place


def _is_beside(case: Case, other: Case | Record) -> bool:
    return (other.place, other.threads) == (case.place, case.threads)


def table(
    one: Case,
    cases: Iterable[Case],
    columns: Iterable[MeasureColumn],
    records: Iterable[Record],
    not_run: str = "",
) -> ResultTable:
    """Return the table of one data set on one medium, under one thread policy.

    Parameters
    ----------
    one : Case
        One of the table's cases.
    cases : iterable of Case
        The cases of the run; those beside that one are the rows.
    columns : iterable of MeasureColumn
        The columns.
    records : iterable of Record
        The records of the cases.
    not_run : str
        The reason for cells without a record, if it is known.
    """
    rows = list(dict.fromkeys(configuration_of(each) for each in cases if _is_beside(one, each)))
    found = [each for each in records if _is_beside(one, each)]
    noise = RunNoise(records)
    group = ComparisonGroup.of(one.place, found, noise) if found else ComparisonGroup(one.place)
    if not_run:
        group = replace(group, not_run=replace(NOT_RUN, sentence=not_run))
    columns = [each for each in columns if not _is_unasked(each.measure, found)]
    return ResultTable.of(
        rows,
        [(each.title, measured_column(group, each.measure, rows)) for each in columns],
        losses=group.losses,
    )


def _is_unasked(measure: Measure, records: Iterable[Record]) -> bool:
    """Return whether a query asks for other data than some records have."""
    own = [each.status for each in records if measure.query and Measure.of(each) == measure]
    return bool(own) and set(own) == {CellStatus.UNSUPPORTED}


# Lines of a terminal around the table.
SPARE_LINES = 6


class Display:
    """Live display of a run.

    Parameters
    ----------
    console : Console
        The output; on a terminal the table grows in place.
    cases : sequence of Case
        All cases of the run.
    steps : iterable of (Case, Step)
        The steps left to make, once for each round.
    columns : sequence of MeasureColumn
        The columns of the table.
    records : iterable of Record
        The records of earlier runs.
    """

    def __init__(
        self,
        console: Console,
        cases: Sequence[Case],
        steps: Iterable[tuple[Case, Step]],
        columns: Sequence[MeasureColumn],
        records: Iterable[Record],
    ) -> None:
        steps = list(steps)
        self._console, self._cases, self._columns = console, cases, columns
        self._found: dict[Key, Record] = {
            key(record): record for record in records_of_cases(records, cases)
        }
        self._left = TimeLeft(steps)
        self._case: Case | None = None
        self._words = ""
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells, {task.description}"),
            console=console,
        )
        cells = sum(len(keys(case, step)) for case, step in steps)
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
        """Show the step that starts, and its round."""
        if case != self._case and not self._console.is_terminal:
            self._line()
        self._case = case
        self._left.begin(case, step)
        self._words = f"round {number}: {self._name(case)}, {step.name}"

    def _name(self, case: Case) -> str:
        return f"{configuration_of(case)} on {place_among(case, self._cases)}"

    def add(self, record: Record) -> None:
        """Show a new record."""
        self._found[key(record)] = record
        self._progress.advance(self._task)

    def _shown(self) -> Group:
        self._progress.update(self._task, description=self._left.text())
        if self._case is None:
            return Group(self._progress)
        return Group(Text(visible(self._words)), self._progress, self._table(self._case))

    def _table(self, case: Case) -> Table:
        """Return the part of a data set's table around a case that has room on the screen."""
        whole = table(case, self._cases, self._columns, self._found.values())
        names = [configuration for configuration, _ in whole.rows]
        room = max(1, self._console.height - SPARE_LINES)
        first = max(0, min(names.index(configuration_of(case)) - room // 2, len(names) - room))
        rows = [
            [Text(str(configuration)), *map(_live_cell, cells)]
            for configuration, cells in whole.rows[first : first + room]
        ]
        shown = rich_table(["format", *whole.header], rows)
        shown.title, shown.title_justify = visible(place_among(case, self._cases)), "left"
        return shown

    def _line(self) -> None:
        """Print the results of the last case."""
        if self._case is None:
            return
        cells = {each for step in self._case.steps for each in keys(self._case, step)}
        found = {Measure.of(r): r for each in cells if (r := self._found.get(each))}
        words = [
            f"{column.title} {quantity(record.value, record.unit)}"
            if record.value is not None
            else f"{column.title} {record.status}"
            for column in self._columns
            if (record := found.get(column.measure)) and not _is_unasked(column.measure, [record])
        ]
        done = self._progress.tasks[0]
        self._console.print(
            f"{done.completed:.0f}/{done.total:.0f} {self._name(self._case)}: {', '.join(words)}",
            soft_wrap=True,
        )


def _live_cell(cell: FormattedCell) -> Text:
    # Cells that are still to be measured are blank while the run lasts.
    text = "" if cell.text == NOT_RUN.status else cell.plain_text
    return Text(text, style_of(text))


class MeasuredShare:
    """Share of the wall time that the clock has run, here and in the measuring processes.

    Parameters
    ----------
    clock : callable, optional
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start = clock, clock()
        self._before = ON_CLOCK.seconds

    def text(self) -> str:
        """Return measured time, wall time and their ratio in words."""
        spent, measured = self._clock() - self._start, ON_CLOCK.seconds - self._before
        share = measured / spent if spent else 0.0
        return f"measured {duration(measured)} of {duration(spent)}: {share:.2f}"


class TimeLeft:
    """Learns from each step that ends how long the same step will take in later rounds.

    Parameters
    ----------
    left : iterable of (Case, Step)
        Steps to make, once for each round.
    clock : callable, optional
        Returns seconds.
    """

    def __init__(
        self, left: Iterable[tuple[Case, Step]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left = Counter(left)
        self._clock = clock
        self._seconds: dict[tuple[Case, Step], float] = {}
        self._running: tuple[tuple[Case, Step], float] | None = None

    def begin(self, case: Case, step: Step) -> None:
        """Note the start of a step, which ends the one before."""
        self.end()
        self._left[case, step] -= 1
        self._running = (case, step), self._clock()

    def end(self) -> None:
        """Note the end of the step that started last."""
        if self._running is not None:
            what, start = self._running
            self._seconds[what] = self._clock() - start
            self._running = None

    def text(self) -> str:
        """Return the time left in words; a lower bound while some steps have never been timed."""
        known = sum(self._seconds.get(what, 0) * times for what, times in self._left.items())
        unknown = sum(1 for what, times in self._left.items() if times and what not in self._seconds)
        if self._running is not None and (before := self._seconds.get(self._running[0])):
            known += max(0, before - (self._clock() - self._running[1]))
        if not unknown:
            return f"about {duration(known)} left"
        steps = f"{unknown} step{'s' if unknown > 1 else ''} not timed yet"
        return f"{steps}, the rest takes {duration(known)}" if known >= 1 else steps
