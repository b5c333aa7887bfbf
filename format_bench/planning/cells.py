"""Cells of a plan: layouts of a sample, measured by the executor, with records in a folder of results.

A layout is a case of the planner's suite, and a condition. The cost model, the search
and the answer read nothing but records, so a plan goes on where an earlier one in its folder ended.
"""

from __future__ import annotations

import gc
import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self

from format_bench.families.cases import Case
from format_bench.families.questions import digest
from format_bench.instruments.clock import Effort
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.planning.mix import Weighted
from format_bench.planning.planner import QUERY_TIME, Layout, Planner
from format_bench.results.records import Record
from format_bench.results.status import is_of_surroundings
from format_bench.results.suites import FAMILIES, Step
from format_bench.runner.executor import TimeBudget, in_turn
from format_bench.runner.result_store import ResultStore
from format_bench.runner.steps import run_case

# The time of a save weighs little in a plan (`WEIGHED` of families/questions.py).
SAVE = Effort(0.0, 1)
# Share of all queries in one process: a query is repeated thrice, unless it takes 4 times its share. The
# shortest call counts, since other programs only add to a time (docs/planning.md).
QUERY = Effort(0.075, 3)

# Wall time of each layout, beside the budget, after which saving and reading counts as timed out. Ends a
# library that hangs. Chosen, not measured.
LEAST_LIMIT_SECONDS = 30.0


@dataclass
class Reads:
    """Records of a layout in few numbers."""

    turns: list[list[float]] = field(default_factory=list)
    """Time of each query, turn by turn."""
    failure: str = ""
    """Reason why there is no further turn."""
    save_seconds: float = 0.0
    size_bytes: int = 0
    files: int = 0
    open_seconds: float = 0.0
    """Time of opening within the time of each query; 0 if none is."""


@dataclass(frozen=True)
class _Cell:
    """A layout in a process."""

    case: Case
    steps: tuple[tuple[Step, Effort], ...]
    folder: Path
    turn: int
    keeps_file: bool


class Cells:
    """Measures layouts, and knows their records.

    Parameters
    ----------
    out : Path
        The folder of results, which only this run writes to.
    folder : Path
        The folder of measured files.
    planner : Planner
        The sample and its queries.
    cold : bool
        Read files that are not in the page cache.
    budget : TimeBudget
        Of the plan.
    metric : str
        The time of a query that counts.
    """

    def __init__(  # noqa: PLR0913 (two folders, the data, and how they are read)
        self,
        out: Path,
        folder: Path,
        planner: Planner,
        budget: TimeBudget,
        *,
        cold: bool,
        metric: str = QUERY_TIME,
    ) -> None:
        self._folder, self._planner, self._budget = folder, planner, budget
        self._cold, self._metric = cold, metric
        # Cold, opening is within the time of a query; warm, it may be a metric of its own.
        self._adds_opening = planner.opens_apart and not cold
        metrics = ("open time", metric) if self._adds_opening else (metric,)
        steps = {each.name: each for each in FAMILIES[planner.family].steps}
        query = replace(steps["cold query" if cold else "query"], metrics=metrics)
        save = replace(steps["save"], metrics=("save time", "size", "files"))
        self._steps = (save, SAVE), (query, QUERY)
        self._results = ResultStore(out)
        self._metadata = RunMetadataFiles(out, self._results.run_id, folder, planner.name)
        self._results.refresh()
        self._records: dict[tuple[str, Layout], dict[tuple[str, str], Record]] = {}
        for each in self._results.current.values():
            if not is_of_surroundings(each.status, each.sentence):
                self._take(each)

    def __enter__(self) -> Self:
        self._metadata.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._results.current:
            self._metadata.start("all")
        self._metadata.__exit__()

    def _take(self, record: Record) -> None:
        form = self._planner.form_of(record.conditions)
        is_own = record.suite == self._planner.suite and record.rows == self._planner.rows
        if is_own and form is not None and record.cache in {None, "cold" if self._cold else "warm"}:
            layout = Layout(record.format, record.codec, record.level, form)
            cells = self._records.setdefault((record.dataset, layout), {})
            cells[record.metric, record.query] = record

    def reads(self, layout: Layout, queries: Sequence[Weighted], *, is_fit: bool = False) -> Reads:
        """Return the records of a layout in few numbers: of a fit, or else of the turns to verify it."""
        found = self._records.get((self._dataset(is_fit=is_fit), layout), {})
        # A round without samples has failed.
        failures = (each.sentence for each in found.values() if len(each.round_sizes) < each.rounds)
        reads = Reads(failure=next(failures, ""))
        records = [found.get((self._metric, each.name)) for each in queries]
        if None in records or any(each.value is None for each in found.values()):
            return reads
        times = [_least(each) for each in records if each]
        if self._adds_opening:
            opens = _least(found["open time", ""])
            times = [list(map(sum, zip(own, opens, strict=False))) for own in times]
            reads.open_seconds = statistics.median(opens)
        reads.turns = [list(each) for each in zip(*times, strict=False)]
        reads.save_seconds = found["save time", ""].value or 0.0
        reads.size_bytes, reads.files = (int(found[each, ""].value or 0) for each in ("size", "files"))
        return reads

    def fit(
        self, layouts: Sequence[Layout], queries: Sequence[Weighted], least: int, budget: TimeBudget
    ) -> None:
        """Measure layouts of one store once, each at places of its own, unless the results have them.

        The first `least` ones are measured whatever the budget, after which none is begun.
        """
        known = [self.reads(each, queries, is_fit=True) for each in layouts]
        cells = [
            self._cell(layout, queries, 1, self._planner.place_of(layout.form), is_fit=True)
            for layout, reads in zip(layouts, known, strict=True)
            if not (reads.turns or reads.failure)
        ]
        self._measure(cells, least - len(layouts) + len(cells), budget)

    def verify(self, layouts: Sequence[Layout], queries: Sequence[Weighted]) -> None:
        """Measure layouts of one store once more; in turns of one number at the same places."""
        turns = [len(self.reads(each, queries).turns) + 1 for each in layouts]
        cells = [
            self._cell(layout, queries, turn, (turn,), is_fit=False)
            for layout, turn in zip(layouts, turns, strict=True)
        ]
        self._measure(cells, len(cells), TimeBudget())

    def _cell(
        self,
        layout: Layout,
        queries: Sequence[Weighted],
        turn: int,
        key: tuple[int, ...],
        *,
        is_fit: bool,
    ) -> _Cell:
        """Return a layout with queries whose random places depend on a key."""
        case = Case(
            layout.store,
            self._dataset(is_fit=is_fit),
            self._planner.rows,
            self._planner.conditions(layout.form),
            layout.codec,
            layout.level,
            self._planner.suite,
            self._planner.questions(queries, key),
        )
        folder = self._folder_of(layout)
        steps = self._steps[1:] if (folder / case.file_name).exists() else self._steps
        return _Cell(case, steps, folder, turn, keeps_file=not is_fit)

    def _measure(self, cells: Sequence[_Cell], least: int, budget: TimeBudget) -> None:
        """Measure cells of one store, as far as the budget goes, and keep their records."""
        if not cells or (least < 1 and budget.is_spent()):
            return
        measured = in_turn(
            cells[0].case,
            cells,
            _measured_each,
            *(self._planner.path, least, budget.left_seconds),
            limit_seconds=LEAST_LIMIT_SECONDS * len(cells) + self._budget.seconds,
            folder=self._folder,
            after=lambda _cell, _outcome, rest: [] if budget.is_spent() else rest,
        )
        for cell, outcome in measured:
            if outcome.status:
                shutil.rmtree(cell.folder, ignore_errors=True)
            # Nobody knows in which step a process has ended.
            found = outcome.value or {step: outcome for step, _ in cell.steps}
            for step, each in found.items():
                # A file is saved once a session; a plan that was killed has left some reads of a turn.
                number = sys.maxsize if step.name == "save" else cell.turn
                lacks = partial(self._results.lacks, number=number)
                for record in self._results.keep(cell.case, self._planner.columns, step, each, lacks):
                    self._take(record)

    def remove(self, layout: Layout) -> None:
        """Remove the file of a layout, if there is one."""
        shutil.rmtree(self._folder_of(layout), ignore_errors=True)

    def _folder_of(self, layout: Layout) -> Path:
        store = "".join(letter if letter.isalnum() else "_" for letter in layout.store)
        # Names of columns may be longer than a folder's may.
        return self._folder / f"{store}-{digest(str(layout.form))}"

    def _dataset(self, *, is_fit: bool) -> str:
        """Return the name of the sample; the reads for a model, at other places, are apart."""
        return f"{self._planner.name}{'-designed' * is_fit}"


def _least(record: Record) -> list[float]:
    """Return the least time of each process: other programs only add to a time."""
    return [min(each) for each in record.repeats_by_round]


def _measured_each(
    cells: Sequence[_Cell], data: Path, least: int, seconds: float
) -> Iterator[tuple[_Cell, Outcome]]:
    """Yield cells of one store with the outcomes of their steps.

    After some seconds no cell is begun that is not among the first ones.
    """
    # The objects of all imports, which collections around the growth of memory would search.
    gc.freeze()
    budget = TimeBudget(seconds)
    for number, cell in enumerate(cells):
        if number >= least and budget.is_spent():
            return
        cell.folder.mkdir(exist_ok=True)
        file = cell.folder / cell.case.file_name
        found, _ = run_case(cell.case, cell.steps, data, file)
        if not cell.keeps_file or any(each.status for each in found.values()):
            shutil.rmtree(cell.folder, ignore_errors=True)
        yield cell, Outcome(found)
