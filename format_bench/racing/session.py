"""Session of a race: from a user's data to the standings, with folders and records."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.instruments.clock import Effort
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.racing.entries import entries_of
from format_bench.racing.race import Race, Trial
from format_bench.racing.standings import Standings
from format_bench.recommendation import purposes
from format_bench.recommendation.recommend import excluded_of
from format_bench.results.candidates import Candidate, Configuration
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.results.suites import FAMILIES, Family, Step
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget, in_turn
from format_bench.runner.reading_display import ReadingDisplay
from format_bench.runner.result_store import ResultStore
from format_bench.runner.steps import SharedTrial, run_cases
from format_bench.runner.user_data import OwnData, Prepared, Source, prepare

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from format_bench.families.cases import Case
    from format_bench.instruments.isolation import Outcome
    from format_bench.racing.output import RaceDisplay
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

    @property
    def out(self) -> Path:
        """The folder of the results: one below reports, after the data."""
        return Path("reports", f"own-{Path(self.data.path).stem}")


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
    out = request.out
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(None)))
        with ReadingDisplay(display.console, request.data.path) as reading:
            own = prepare(request.data, folder, reading)
        family = FAMILIES[own.family]
        entries = entries_of(family, own.name, own.rows, thorough=request.thorough)
        cases = {_entry_of(case): case for case in (*entries.first, *entries.others)}
        standings = Standings(out.name, own.rows, list(cases), request.wish, family.item)
        weights = _exclude(standings, family, request.wish)
        folders.open_results(out, fresh=False, fingerprints={own.name: own.fingerprint})
        stack.enter_context(folders.only_run(out))
        measurer = _Measurer(out, folder, own, cases, weights)
        stack.callback(measurer.describe)
        standings.add(measurer.earlier())
        first = [_entry_of(case) for case in entries.first]
        return Race(standings, first, measurer.measure, budget, watch=display).run()


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
) -> Iterator[tuple[Step, Effort]]:
    """Yield the steps that weights and the comparison of the data need, with their efforts.

    Steps whose times do not count are made once. Memory is measured if it counts.
    """
    timed = Effort(FULL_SECONDS, FULL_CALLS) if is_full else Effort(SAMPLE_SECONDS, SAMPLE_CALLS)
    for step in family.steps:
        counting = {
            metric
            for metric in step.metrics
            if Measure(metric, step.cache if METRICS[metric].cached else None).comparable in weights
        }
        if counting or step is family.steps[0] or family.loss in step.metrics:
            metrics = (
                metric
                for metric in step.metrics
                if metric in counting or METRICS[metric].noise is not Noise.MEMORY
            )
            is_timed = any(METRICS[metric].unit == "seconds" for metric in counting)
            yield replace(step, metrics=tuple(metrics)), timed if is_timed else Effort(0.0, 1)


class _Measurer:
    """Measures trials, and keeps their records in the folder of results."""

    def __init__(
        self,
        out: Path,
        folder: Path,
        own: Prepared,
        cases: Mapping[Configuration, Case],
        weights: Weights,
    ) -> None:
        self._results, self._folder, self._own, self._cases = ResultStore(out), folder, own, cases
        self._family, self._weights = FAMILIES[own.family], weights
        self._data = OwnData(own, folder)
        self._results.refresh()
        # A process that has measured one case keeps memory for the next, which then seems to need less.
        self._is_alone = any(METRICS[each.metric].noise is Noise.MEMORY for each in weights)

    def describe(self) -> None:
        """Write the metadata of the race; at its end, since the first ranking does not wait for them."""
        if self._results.current:
            scale = f"{self._own.rows} {self._family.item}s"
            out = self._results.path.parent
            with RunMetadataFiles(out, self._results.run_id, self._folder, scale) as files:
                files.start("all")

    def earlier(self) -> list[Record]:
        """Return the records of earlier races and runs on the data, with values or without.

        Without those that failed with their surroundings, which are tried again.
        """
        suite = self._family.suites[0].name
        return [
            each
            for each in self._results.current.values()
            if (each.suite, each.dataset) == (suite, self._own.name)
            and each.rows <= self._own.rows
            and Configuration.of(each) in self._cases
            and not is_of_surroundings(each.status, each.sentence)
        ]

    def measure(self, trial: Trial, limit_seconds: float) -> list[Record]:
        """Measure a trial and return its records; they are on disk then.

        Cases that the time does not suffice for have none.
        """
        budget = TimeBudget(limit_seconds)
        data = {size: self._data.of(size).value[0] for size in trial.sizes}
        cases = [replace(self._cases[each], rows=size) for each in trial.entries for size in trial.sizes]
        steps = steps_for(self._family, self._weights, is_full=trial.sizes == (self._own.rows,))
        shared = SharedTrial(tuple(steps), trial.limit_seconds, SLOW_SECONDS)
        with tempfile.TemporaryDirectory(dir=self._folder, prefix="trial-") as place:
            return [
                record
                for group in ([[each] for each in cases] if self._is_alone else [cases])
                for case, outcome in in_turn(
                    *(group[0], group, run_cases, shared, data, Path(place)),
                    budget=budget,
                    folder=self._folder,
                    after=_others,
                )
                for record in self._kept(case, outcome, shared)
            ]

    def _kept(self, case: Case, outcome: Outcome, shared: SharedTrial) -> Iterator[Record]:
        if outcome.status is CellStatus.TIMED_OUT:
            sentence = f"not finished after {shared.case_limit_seconds:.0f} seconds"
            outcome = replace(outcome, sentence=sentence)
        # Nobody knows in which step a process has ended.
        steps = [step for step, _ in shared.steps]
        found: dict[Step, Outcome] = outcome.value or dict.fromkeys(steps, outcome)
        columns = self._own.place.value[1]
        for step, each in found.items():
            yield from self._results.keep(case, columns, step, each)


def _others(case: Case, _: Outcome, rest: Sequence[Case]) -> list[Case]:
    """Return the cases that go on after one whose process has ended: not the same with more rows."""
    return [each for each in rest if replace(each, rows=case.rows) != case]
