"""Session of a race: from a user's data to the standings, with folders and records."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapter_core.errors import NoCandidateError, UserDataError
from adapter_core.files import size_bytes
from data_generator import location
from data_generator.location import DataLocation
from format_bench.families.cases import Case
from format_bench.instruments import isolation
from format_bench.instruments.clock import Effort
from format_bench.instruments.isolation import Outcome
from format_bench.metadata import machine
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.racing.entries import baseline_of, entries_of, in_order, loss_of, refusal_of
from format_bench.racing.output import RaceDisplay
from format_bench.racing.promise import promise_for
from format_bench.racing.race import END_SECONDS, MOST_END_SHARE, Race, Trial
from format_bench.racing.standings import Standings
from format_bench.recommendation import purposes
from format_bench.recommendation.purposes import Criteria, Wish
from format_bench.recommendation.recommend import TINY_ROWS, excluded_of
from format_bench.recommendation.scoring import READ_TIME, Weights
from format_bench.results.candidates import Candidate, Configuration
from format_bench.results.display.text import joined
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.records import Record
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.results.suites import FAMILIES, Family, Step
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget, in_turn
from format_bench.runner.reading_display import ReadingDisplay
from format_bench.runner.result_store import ResultStore
from format_bench.runner.steps import SharedTrial, run_cases
from format_bench.runner.user_data import OwnData, Prepared, Source, prepare

# Entries that are tried before the first ranking: more of them take longer than it may.
FIRST = 12

# Share of the time left that asking the libraries for their versions may take.
# Chosen, not measured.
METADATA_SHARE = 0.2

# Entries for a table of about ten rows: text, and two that keep types.
_FOR_TINY = tuple(map(Configuration, ("CSV", "Parquet", "Feather")))

# Wall time of the calls of a step in one process: on samples, and on all rows.
SAMPLE_SECONDS, FULL_SECONDS = 0.02, 0.3

# The least number of calls of a step, if a time of it counts.
SAMPLE_CALLS, FULL_CALLS = 2, 3

# After this time of a case on one small sample, the next larger one is left out.
# With four times the rows it would reach the limit before the first ranking (`FIRST_LIMIT_SECONDS`).
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
        return Path("reports", f"own-{Path(self.data.path.partition('::')[0]).stem}")


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
    out, load, start_seconds = request.out, machine.load_average(), budget.elapsed_seconds
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(None)))
        isolation.start_server()
        own = _read(request.data, folder, display, budget)
        for each in own.remarks:
            display.console.print(f"note: {each}", soft_wrap=True)
        family = FAMILIES[own.family]
        bound = request.wish.max_error
        source = location.find(request.data.path)
        found = entries_of(
            *(family, own.name, own.rows),
            thorough=request.thorough,
            max_error=bound,
            own=source.path,
        )
        cases = found.by_configuration
        criteria = purposes.criteria_before(cases, family.suites[0].name, request.wish)
        promise = promise_for(own, family, criteria.weights, out.parent, budget.left_seconds)
        if promise.is_predicted:
            display.console.print(f"first formats by tables measured in {out.parent}", soft_wrap=True)
        entries = in_order(cases, promise, family)
        is_tiny = own.family == "tables" and own.rows <= TINY_ROWS
        if is_tiny and not request.thorough and not criteria.requirements:
            # Any format does, so few are enough to know what CSV would lose.
            few = [each for each in entries if each in _FOR_TINY]
            able = (each for each in few if not refusal_of(family, each.format, own.description))
            entries = few if any(able) else entries
        standings = Standings(out.name, own.rows, entries, request.wish, family.item)
        standings.unavailable |= found.unavailable
        _exclude(standings, family, criteria, own)
        folders.open_results(out, fresh=False, fingerprints={own.name: own.fingerprint})
        stack.enter_context(folders.only_run(out))
        baseline = standings.baseline = baseline_of(source.path, family, entries)
        facts = {own.name: _facts(source, own, request.data.sample, baseline)}
        standings.metadata = {"data": facts, "load_average": {"start": load}, "cpu": machine.cpu()}
        scale = f"{own.rows} {family.item}s"
        measurer = Measurer(out, folder, own, cases, criteria.weights, baseline)
        files = RunMetadataFiles(out, measurer.run_id, folder, scale, {"data": facts})
        stack.enter_context(files)
        standings.add(measurer.earlier())
        race = Race(standings, standings.live[:FIRST], measurer.measure, budget)
        race.end_seconds = max(END_SECONDS, min(start_seconds, MOST_END_SHARE * budget.seconds))

        def watch(race: Race) -> None:
            display(race)
            # The first ranking does not wait for the metadata, and the end has no time for them.
            if race.first_seconds is not None and measurer.has_records:
                files.start("all", METADATA_SHARE * race.measuring_seconds)

        race.watch = watch
        return race.run()


def _read(source: Source, folder: Path, display: RaceDisplay, budget: TimeBudget) -> Prepared:
    """Read the user's data within the budget.

    Raises
    ------
    UserDataError
        If they cannot be read, or not in that time.
    """
    seconds = min(source.limits.seconds, max(budget.left_seconds, 1.0))
    limited = replace(source, limits=replace(source.limits, seconds=seconds))
    try:
        with ReadingDisplay(display.console, source.path) as reading:
            return prepare(limited, folder, reading)
    except UserDataError as error:
        if not budget.is_spent():
            raise
        raise UserDataError(
            f"{source.path}: takes more than the {budget.seconds:g} seconds of --time-budget to read; "
            "allow more"
        ) from error


def _facts(
    source: DataLocation, own: Prepared, sample: int | None, baseline: Configuration | None
) -> dict[str, Any]:
    """Return facts of the user's data for the metadata; without bytes of a file that was sampled."""
    is_whole = own.rows != sample and source.table is None and not own.has_other_size
    size = size_bytes(source.path) if is_whole else None
    facts = {"rows": own.rows, "file": source.path.name, "bytes": size}
    if baseline:
        choice = {"format": baseline.format, "codec": baseline.codec, "level": baseline.level}
        facts["baseline"] = choice
    return facts


def _exclude(standings: Standings, family: Family, criteria: Criteria, own: Prepared) -> None:
    """Drop the entries that their declarations rule out: a requirement, a kind of column, a loss.

    Raises
    ------
    NoCandidateError
        If that rules out all.
    """
    suite = family.suites[0].name
    refusals = {
        label: refusal_of(family, label, own.description)
        or ("" if standings.wish.allow_lossy else loss_of(family, label, own.description))
        for label in {each.format for each in standings.entries}
    }
    for entry in standings.entries:
        if refusals[entry.format]:
            standings.drop(entry, refusals[entry.format])
    if not standings.live:
        raise NoCandidateError(f"no candidate is left: {joined(dict.fromkeys(refusals.values()))}")
    candidates = [Candidate(each) for each in standings.live]
    for each in excluded_of(candidates, criteria.requirements, suite, {}):
        standings.drop(each.candidate.configuration, "; ".join(each.reasons.values()))


def steps_for(
    family: Family, weights: Collection[Measure], *, is_full: bool
) -> Iterator[tuple[Step, Effort]]:
    """Yield the steps that weights and the comparison of the data need, with their efforts.

    Steps whose times do not count are made once. Memory is measured if it counts.
    """
    timed = Effort(FULL_SECONDS, FULL_CALLS) if is_full else Effort(SAMPLE_SECONDS, SAMPLE_CALLS)
    for step in family.steps:
        counting = {
            metric for metric in step.metrics if Measure.at(metric, step.cache).comparable in weights
        }
        if counting or step is family.steps[0] or family.loss in step.metrics:
            metrics = (
                metric
                for metric in step.metrics
                if metric in counting or METRICS[metric].noise is not Noise.MEMORY
            )
            is_timed = any(METRICS[metric].unit == "seconds" for metric in counting)
            yield replace(step, metrics=tuple(metrics)), timed if is_timed else Effort(0.0, 1)


class Measurer:
    """Measures trials, and keeps their records in the folder of results."""

    def __init__(  # noqa: PLR0913, PLR0917 (folders, data, and what is measured of them)
        self,
        out: Path,
        folder: Path,
        own: Prepared,
        cases: Mapping[Configuration, Case],
        weights: Weights,
        baseline: Configuration | None = None,
    ) -> None:
        self._baseline = baseline
        self._results, self._folder, self._own, self._cases = ResultStore(out), folder, own, cases
        self._family, self._weights = FAMILIES[own.family], weights
        self._data = OwnData(own, folder)
        self._results.refresh()
        # A process that has measured one case keeps memory for the next, which then seems to need less.
        self._is_alone = any(METRICS[each.metric].noise is Noise.MEMORY for each in weights)

    @property
    def run_id(self) -> str:
        """Id of the records of this race."""
        return self._results.run_id

    @property
    def has_records(self) -> bool:
        """Whether the folder of results has any record."""
        return bool(self._results.current)

    def earlier(self) -> list[Record]:
        """Return the records of earlier races and runs on the data, with values or without.

        Without those that failed with their surroundings, and samples that were not finished in the
        short time before a first ranking: these are tried again.
        """
        suite = self._family.suites[0].name
        return [
            each
            for each in self._results.current.values()
            if (each.suite, each.dataset) == (suite, self._own.name)
            and each.rows <= self._own.rows
            and Configuration.of(each) in self._cases
            and not is_of_surroundings(each.status, each.sentence)
            and not (each.status is CellStatus.TIMED_OUT and each.rows < self._own.rows)
        ]

    def measure_each(
        self, limit_seconds: float, done: Collection[Configuration] = ()
    ) -> Iterator[list[Record]]:
        """Measure each entry on all rows, without a race; yield the records of each format.

        Parameters
        ----------
        limit_seconds : float
            Wall time of an entry, after which it has no value.
        done : collection of Configuration, optional
            Entries that are left out.
        """
        left = [each for each in self._cases if each not in done]
        for label in dict.fromkeys(each.format for each in left):
            # Choices of a format share a process, and so its imports.
            same = tuple(each for each in left if each.format == label)
            yield self.measure(Trial(same, (self._own.rows,), limit_seconds), len(same) * limit_seconds)

    def measure(self, trial: Trial, limit_seconds: float) -> list[Record]:
        """Measure a trial and return its records; they are on disk then.

        Cases that the time does not suffice for have none.
        """
        budget = TimeBudget(limit_seconds)
        try:
            data = {size: self._data.of(size, budget.left_seconds).value[0] for size in trial.sizes}
        except UserDataError:
            if budget.is_spent():
                return []
            raise
        cases = [replace(self._cases[each], rows=size) for each in trial.entries for size in trial.sizes]
        # The user's own file is compared by its read, whatever counts.
        weights = [*self._weights, *([READ_TIME] if self._baseline in trial.entries else [])]
        steps = steps_for(self._family, weights, is_full=trial.sizes == (self._own.rows,))
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
