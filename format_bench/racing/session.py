"""Session of a race: from a user's data to the standings, with samples, folders and records."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from format_bench.instruments.clock import Effort
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.racing import trial as trials
from format_bench.racing.entries import entries_of
from format_bench.racing.race import Race, Trial
from format_bench.racing.standings import Standings
from format_bench.recommendation import purposes
from format_bench.recommendation.answer import excluded_of
from format_bench.results.candidates import Candidate, Configuration
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.status import is_of_surroundings
from format_bench.results.suites import FAMILIES, Family, Step
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget, keep, new_run_id
from format_bench.runner.result_store import ResultStore
from format_bench.runner.user_data import Prepared, Source, prepare, store_samples

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from format_bench.families.cases import Case
    from format_bench.racing.output import RaceDisplay
    from format_bench.racing.trial import StepOutcome
    from format_bench.recommendation.purposes import Wish
    from format_bench.recommendation.scoring import Weights
    from format_bench.results.records import Record

# Wall time of the calls of a step in one process: on samples, and on all rows.
SAMPLE_SECONDS, FULL_SECONDS = 0.02, 0.3

# The least number of calls of a step, if a time of it counts.
SAMPLE_CALLS, FULL_CALLS = 2, 3

# After this time of a case on one small sample, the next larger one is left out.
SLOW_SECONDS = 1.0


@dataclass(frozen=True)
class RaceRequest:
    """A race as the user asks for it."""

    data: Source
    wish: Wish
    thorough: bool = False
    """Take all codecs at all levels."""
    out: Path | None = None
    """Folder of the results; by default one below reports, after the data."""
    scratch: Path | None = None

    @property
    def results_folder(self) -> Path:
        """The folder of the results."""
        return self.out or Path("reports", f"own-{Path(self.data.path).stem}")


def race(request: RaceRequest, display: RaceDisplay, budget: TimeBudget) -> Race:
    """Race the formats on a user's data; records are appended to the results as they come.

    Parameters
    ----------
    request : RaceRequest
        The data and the wish.
    display : RaceDisplay
        Shows the race.
    budget : TimeBudget
        Wall time from the call, after which nothing more is measured.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """
    out = request.results_folder
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(request.scratch)))
        own = prepare(request.data, folder, partial(display.reads, request.data.path))
        family = FAMILIES[own.family]
        entries = entries_of(family, own.name, own.rows, thorough=request.thorough)
        cases = {_entry_of(case): case for case in (*entries.first, *entries.others)}
        standings = Standings(out.name, own.rows, list(cases), request.wish, family.item)
        weights = _exclude(standings, family, request.wish)
        folders.open_results(out, fresh=False)
        folders.check_same_data(out, {own.name: own.fingerprint})
        stack.enter_context(folders.only_run(out))
        measurer = stack.enter_context(_Measurer(out, folder, own, cases, family, weights))
        standings.add(measurer.earlier())
        return Race(
            standings,
            [_entry_of(case) for case in entries.first],
            measurer.measure,
            budget,
            watch=display,
        ).run()


def _entry_of(case: Case) -> Configuration:
    return Configuration(case.format, case.codec, case.level, case.threads)


def _exclude(standings: Standings, family: Family, wish: Wish) -> Weights:
    """Drop the entries whose declarations rule them out; return the weights that count.

    Raises
    ------
    NoCandidateError
        If that rules out all.
    InvalidWeightError
        If the family has no measure of a weight.
    """
    suite = family.suites[0].name
    wanted = purposes.criteria_before(standings.entries, suite, wish)
    candidates = [Candidate(each) for each in standings.entries]
    for each in excluded_of(candidates, wanted.requirements, suite, {}):
        standings.drop(each.candidate.configuration, "; ".join(each.reasons.values()))
    return wanted.weights


def steps_for(
    family: Family, weights: Collection[Measure], *, is_full: bool
) -> list[tuple[Step, Effort]]:
    """Return the steps that weights and the comparison of the data need, with their efforts.

    Steps whose times do not count are made once. Memory is measured if it counts.
    """
    found = []
    for step in family.steps:
        counting = {
            metric
            for metric in step.metrics
            if Measure(metric, step.cache if METRICS[metric].cached else None).comparable in weights
        }
        is_timed = any(METRICS[metric].unit == "seconds" for metric in counting)
        if not (counting or step is family.steps[0] or family.loss in step.metrics):
            continue
        metrics = [
            metric
            for metric in step.metrics
            if metric in counting or METRICS[metric].noise is not Noise.MEMORY
        ]
        effort = Effort(0.0, 1)
        if is_timed:
            effort = (
                Effort(FULL_SECONDS, FULL_CALLS) if is_full else Effort(SAMPLE_SECONDS, SAMPLE_CALLS)
            )
        found.append((replace(step, metrics=tuple(metrics)), effort))
    return found


class _Measurer:
    """Measures trials, and keeps their records in the folder of results."""

    def __init__(  # noqa: PLR0913, PLR0917 (two folders, the data, and what is measured)
        self,
        out: Path,
        folder: Path,
        own: Prepared,
        cases: Mapping[Configuration, Case],
        family: Family,
        weights: Weights,
    ) -> None:
        self._results, self._folder, self._own, self._cases = ResultStore(out), folder, own, cases
        self._family, self._weights = family, weights
        self._data: dict[int, Path] = {own.rows: own.place.value[0]}
        self._columns: int = own.place.value[1]
        self._run_id = new_run_id()
        self._metadata = RunMetadataFiles(out, self._run_id, folder, f"{own.rows} {family.item}s")
        self._results.refresh()
        # A process that has measured one case keeps memory for the next, which then seems to need less.
        self._is_alone = any(METRICS[each.metric].noise is Noise.MEMORY for each in weights)

    def __enter__(self) -> Self:
        self._metadata.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._results.current:
            self._metadata.start("all")
        self._metadata.__exit__()

    def earlier(self) -> list[Record]:
        """Return the records of earlier races and runs on the data, with values or without.

        Without those that failed with their surroundings, which are tried again.
        """
        suite = self._family.suites[0].name
        entries = set(self._cases)
        return [
            each
            for each in self._results.current.values()
            if (each.suite, each.dataset) == (suite, self._own.name)
            and each.rows <= self._own.rows
            and Configuration.of(each) in entries
            and not is_of_surroundings(each.status, each.sentence)
        ]

    def measure(self, trial: Trial, limit_seconds: float) -> list[Record]:
        """Measure a trial and return its records; they are on disk then."""
        self._store(trial.sizes)
        is_full = trial.sizes == (self._own.rows,)
        cases = [
            replace(self._cases[entry], rows=size) for entry in trial.entries for size in trial.sizes
        ]
        plan = trials.TrialPlan(
            tuple(cases),
            tuple(steps_for(self._family, self._weights, is_full=is_full)),
            self._data,
            limit_seconds=limit_seconds,
            case_limit_seconds=trial.limit_seconds,
            slow_seconds=SLOW_SECONDS,
        )
        plans = [replace(plan, cases=(case,)) for case in cases] if self._is_alone else [plan]
        return [
            record
            for each in plans
            for outcome in trials.run(each, self._folder)
            for record in self._keep(outcome)
        ]

    def _keep(self, found: StepOutcome) -> Iterable[Record]:
        case, step, outcome = found
        return keep(self._results, self._run_id, case, self._columns, step, outcome)

    def _store(self, sizes: Iterable[int]) -> None:
        """Store the samples of some sizes that are not stored yet."""
        missing = {each: self._folder / f"sample-{each}" for each in sizes if each not in self._data}
        if missing:
            store_samples(self._own, missing)
            self._data |= missing
