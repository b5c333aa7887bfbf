"""Runner of cases without asv: saves and reads in fresh processes, each cell on disk before the next.

The steps on a saved file share a process, so that warm and cold ones take turns. A run can be killed at
any moment: its results are complete as far as they go, and the same call resumes. All cases have a
first round before any has a second, so that a machine that drifts favours none.
"""

from __future__ import annotations

import copy
import itertools
import math
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from adapter_core.errors import UnavailableError, WrongValuesError
from format_bench import conditions
from format_bench.families.cases import Case
from format_bench.families.measuring import turns_of
from format_bench.instruments import isolation
from format_bench.instruments.clock import MIN_REPEATS, Effort
from format_bench.instruments.isolation import Outcome
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.results.conditions import Conditions
from format_bench.results.records import Record
from format_bench.results.status import BUDGET_SPENT, CellStatus
from format_bench.results.suites import Step
from format_bench.runner import folders
from format_bench.runner import steps as case_steps
from format_bench.runner.executor import TimeBudget, in_turn, isolated
from format_bench.runner.media import ComparedMedium
from format_bench.runner.result_store import ResultStore
from format_bench.runner.steps import store_data
from format_bench.system.scratch import remove_abandoned

# Called before each step, with its round (from 1).
Watch = Callable[[Case, Step, int], None]


@dataclass(frozen=True)
class Limits:
    """How often steps are made and repeated, and how long they may take."""

    rounds: int = 1
    """Times that each step is made, each in a fresh process."""
    repeats: int = MIN_REPEATS
    """The least number of samples of each time, of all rounds together."""
    budget_seconds: float = 10.0
    """Wall time of the repeats of one step, of all rounds together, after which no repeat starts."""
    limit_seconds: float = 1800.0
    """Wall time after which a step counts as timed out."""
    time_budget_seconds: float = math.inf
    """Wall time of a run, after which a step is ended and none starts. Steps share it alike."""
    step_share_seconds: float = math.inf
    """Wall time of the budget that one step may take; one that needs more is left to a later run."""

    @property
    def step_seconds(self) -> float:
        """Wall time after which a step is ended."""
        return min(self.limit_seconds, self.step_share_seconds)


class Runner:
    """Measures cases and appends their records to the results in a folder.

    Parameters
    ----------
    out : Path
        The folder of the results; made if missing. Cells that it contains are not measured again.
    scratch : Path
        The folder for measured files; each run uses a folder of its own there and removes it.
    limits : Limits, optional
        Numbers of rounds and repeats, time and memory.
    steps : collection of str, optional
        Names of the steps to make; by default all of each case.
    prepared : mapping of str to callable
        Data sets that need not be generated, by name; see `CaseData`.
    watch : callable, optional
        Called before each step.
    media : iterable of ComparedMedium
        The media of the cases that name one; the files of the others are in `scratch`.
    costs : mapping of Case to float, optional
        Estimated seconds of one call of each step; a case that would exceed the time budget is left out.
    rounds : collection of int, optional
        Numbers of the rounds to make; by default all of the limits.
    store : ResultStore, optional
        The results in `out`, which several runners may share; by default a store of its own.
    """

    def __init__(  # noqa: PLR0913 (two folders, limits, and further choices)
        self,
        out: Path,
        scratch: Path,
        limits: Limits | None = None,
        *,
        steps: Collection[str] | None = None,
        prepared: Mapping[str, Callable[[int], Outcome]] | None = None,
        watch: Watch | None = None,
        media: Iterable[ComparedMedium] = (),
        costs: Mapping[Case, float] | None = None,
        rounds: Collection[int] | None = None,
        store: ResultStore | None = None,
    ) -> None:
        self.out, self.scratch = out, scratch
        self.store = store or ResultStore(out)
        self.limits = limits or Limits()
        self.rounds = rounds or range(1, self.limits.rounds + 1)
        self.effort = Effort(
            self.limits.budget_seconds / self.limits.rounds,
            math.ceil(self.limits.repeats / self.limits.rounds),
            # The rest is for the last query that starts before.
            limit_seconds=self.limits.limit_seconds / 2,
        )
        self.steps = steps
        self.prepared = prepared or {}
        self.watch: Watch = watch or (lambda *_: None)
        self.media = tuple(media)
        self.costs = costs or {}
        self.data: Mapping[str, Mapping[str, Any]] = {}
        """Facts of the data sets, as `RunMetadataFiles` takes them."""
        self._budget = TimeBudget()
        self._own: Mapping[str, Path] = {}

    def run(self, cases: Iterable[Case]) -> Iterator[Record]:
        """Measure the cells that are missing in the results; yield each record when it is on disk.

        Raises
        ------
        InvalidResultsError
            If the results in the folder are damaged.
        FolderLockedError
            If another run is writing to the folder.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        with folders.only_run(self.out):
            cases = list(cases)
            # Also if nothing is left to measure: the last run may have been killed at its end.
            for place in (self.scratch, *(each.folder for each in self.media)):
                remove_abandoned(place)
            if self.left(cases):
                with ExitStack() as stack:
                    own = {"": stack.enter_context(folders.make(self.scratch))}
                    for each in self.media:
                        own[each.name] = stack.enter_context(folders.make(each.folder))
                    yield from self._run_in(own, cases)

    def sampler(self, limits: Limits) -> Runner:
        """Return a runner of the same run with other limits, that makes each step once."""
        found = copy.copy(self)
        found.limits, found.effort = limits, Effort(0.0, 1)
        # One round puts the cases in order, which is all that a sample is for.
        found.rounds = (1,)
        return found

    def left(self, cases: Iterable[Case]) -> list[tuple[Case, Step]]:
        """Return the steps of a run that started now, in order, if nothing fails."""
        self.store.refresh()
        cases = list(cases)
        return [
            (case, step)
            for number in self.rounds
            for case in _in_round(cases, number)
            for step in self._missing(case, number)
        ]

    def _missing(self, case: Case, number: int) -> list[Step]:
        return self.store.missing(case, number, self.steps)

    def _run_in(self, own: Mapping[str, Path], cases: list[Case]) -> Iterator[Record]:
        """Measure cases in folders of this run, one for each medium; data are in that without a name."""
        self._own = own
        # Alike, so that repeats of a slow step take no time from those after it.
        share_seconds = self.limits.time_budget_seconds / len(self.left(cases))
        self.effort = replace(self.effort, budget_seconds=min(self.effort.budget_seconds, share_seconds))
        data = CaseData(own[""], self.prepared)
        scale = f"{', '.join(str(rows) for rows in sorted({case.rows for case in cases}))} rows"
        media = {each.name: each.metadata for each in self.media}
        facts = {"media": media, "data": self.data}
        files = RunMetadataFiles(self.out, self.store.run_id, own[""], scale, facts)
        with files as metadata_files:
            for policy in {case.threads for case, _ in self.left(cases)}:
                metadata_files.start(policy)
            # Only now, since on a busy machine the metadata would take most of a short budget.
            self._budget = TimeBudget(self.limits.time_budget_seconds)
            for number in self.rounds:
                for case in _in_round(cases, number):
                    if not self._missing(case, number):
                        continue
                    if self._budget.is_spent():
                        return
                    if self.costs.get(case, 0.0) > self._budget.left_seconds:
                        continue
                    limit = min(self.limits.limit_seconds, self._budget.left_seconds)
                    made = data.of(case, limit)
                    place_of_case = own[case.medium]
                    with tempfile.TemporaryDirectory(dir=place_of_case, prefix="case-") as place:
                        yield from self._run_case(case, number, made, Path(place) / case.file_name)

    def _run_case(self, case: Case, number: int, data: Outcome, file: Path) -> Iterator[Record]:
        missing, columns = self._missing(case, number), 0 if data.status else data.value[1]
        before = data if data.status else Outcome()
        if why := conditions.why_not(case):
            before = Outcome(status=CellStatus.UNSUPPORTED, sentence=why)
        first = case.steps[0]
        if not before.status and first not in missing:
            limit = min(self.limits.step_seconds, self._budget.left_seconds)
            left = isolated(
                *(case, case_steps.leave_file, case, data.value[0], file),
                limit_seconds=limit,
                folder=self._own[case.medium],
            )
            before = self._within_share(left)
        for steps in _processes(first, missing):
            if self._budget.is_spent():
                return
            outcomes = dict.fromkeys(steps, before)
            if not before.status:
                for step in steps:
                    self.watch(case, step, number)
                outcomes = self._measure(steps, case, number, data.value[0], file)
            for step, outcome in outcomes.items():
                if outcome.status is CellStatus.TIMED_OUT and self._budget.is_spent():
                    return  # the budget ended the step, which a later run may finish
                # A cold read may fail alone, as where no file can be evicted.
                if outcome.status and step.cache != "cold":
                    before = outcome
                lacks = partial(self.store.lacks, number=number)
                yield from self.store.keep(case, columns, step, outcome, lacks)

    def _measure(
        self, steps: list[Step], case: Case, number: int, data: Path, file: Path
    ) -> dict[Step, Outcome]:
        """Return the outcomes of steps that share a process; those that the budget ends have none."""
        found: dict[Step, Outcome] = {}
        last = Outcome()
        for group, last in in_turn(
            case,
            turns_of(steps),
            case_steps.run_steps,
            *(case, data, file, replace(self.effort, round_number=number - 1)),
            limit_seconds=self.limits.step_seconds,
            budget=self._budget,
            folder=self._own[case.medium],
            after=_after,
        ):
            found |= {step: last if last.status else Outcome(last.value[step.name]) for step in group}
        left_out = steps if last.status and not self._budget.is_spent() else []
        found = dict.fromkeys(left_out, last) | found
        return {step: self._within_share(outcome) for step, outcome in found.items()}

    def _within_share(self, outcome: Outcome) -> Outcome:
        """Return an outcome that names the time budget if its share ended the step, not the limit."""
        is_ended = outcome.status is CellStatus.TIMED_OUT
        if is_ended and self.limits.step_share_seconds < self.limits.limit_seconds:
            return replace(outcome, sentence=BUDGET_SPENT)
        return outcome


def _in_round(cases: Iterable[Case], number: int) -> Iterator[Case]:
    """Yield the cases in the order of a round.

    In every second one those that differ in conditions alone go backwards: the first of two neighbours
    always meets the other state of the machine, e.g. of the disk, than the second.
    """
    for _, alike in itertools.groupby(cases, lambda case: replace(case, conditions=Conditions())):
        yield from list(alike)[:: 1 if number % 2 else -1]


def _after(
    group: tuple[Step, ...], outcome: Outcome, rest: list[tuple[Step, ...]]
) -> list[tuple[Step, ...]]:
    """Return the groups of steps that go on after one that failed."""
    # Without time, or with wrong values, the others would fail like this one.
    if outcome.status is CellStatus.TIMED_OUT or outcome.error == WrongValuesError.__name__:
        return []
    if len(group) > 1:
        return [*((step,) for step in group), *rest]
    return rest if group[0].cache == "cold" else []


def _processes(first: Step, steps: list[Step]) -> list[list[Step]]:
    """Return the steps of each process: the save alone, and all on a saved file."""
    saves = [each for each in steps if each == first]
    reads = [each for each in steps if each != first]
    return [each for each in (saves, reads) if each]


class CaseData:
    """Data sets in a folder, each made once.

    Parameters
    ----------
    folder : Path
        Where they are kept.
    prepared : mapping of str to callable
        Data sets that exist already, by name: return the result of `of` for a number of rows.
    """

    def __init__(self, folder: Path, prepared: Mapping[str, Callable[[int], Outcome]]) -> None:
        self._folder, self._prepared = folder, prepared
        self._made: dict[Path, Outcome] = {}

    def of(self, case: Case, limit_seconds: float) -> Outcome:
        """Return the path of a case's data and the number of columns, or why there are none.

        Parameters
        ----------
        case : Case
            The case.
        limit_seconds : float
            How long making the data may take.
        """
        try:
            interpreter = conditions.data_interpreter_of(case)
        except UnavailableError as error:
            return isolation.outcome_of(error)
        if case.dataset in self._prepared:
            return self._prepared[case.dataset](case.rows)
        own = Path(interpreter).parents[1].name if interpreter else ""
        path = self._folder / f"{case.family.name}-{case.dataset}-{case.rows}{own}"
        if path not in self._made:
            made = isolation.run(
                *(store_data, case, path), limit_seconds=limit_seconds, interpreter=interpreter
            )
            self._made[path] = made if made.status else Outcome((path, made.value[1]))
        return self._made[path]
