"""Session of a run: from the request to the records, with data, plan, folders, runner and display."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidRequestError
from format_bench.families.questions import digest
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.results.display.text import joined, plural
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders, time_budget
from format_bench.runner.executor import TimeBudget
from format_bench.runner.media import ComparedMedium, compared, for_data
from format_bench.runner.plan import RunRequest, on_media, plan, steps_of
from format_bench.runner.progress import Display, MeasureColumn, MeasuredShare, columns_of
from format_bench.runner.reading_display import ReadingDisplay
from format_bench.runner.runner import Limits, Runner
from format_bench.runner.user_data import OwnData, Prepared, check_questions, prepare, profile_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from format_bench.families.cases import Case
    from format_bench.instruments.isolation import Outcome
    from format_bench.results.records import Record

# In how many processes each step is made, if it is repeated so often.
# They show the noise between processes (docs/methodology.md), and a median needs three.
ROUNDS = 3

_SURROUNDINGS = "failed for lack of space or memory, or because of a kill or a time budget"

# Wall time of the repeats of a step, of all rounds together, if their number is not given.
# 2 s in each process: a call of milliseconds has dozens of samples, one of a second has one.
BUDGET_SECONDS = 6.0


@dataclass(frozen=True)
class RunSummary:
    """Outcome of a session."""

    cases: tuple[Case, ...]
    columns: tuple[MeasureColumn, ...]
    """Columns of the table of results."""
    records: list[Record]
    """All records in the folder of results that are of this environment."""
    watch: MeasuredShare
    sample: tuple[Case, ...] = ()
    """The same cases on a sample of the rows, if some were not run for want of time."""
    not_run: str = ""
    """The reason for cells that were not run, if it is known."""


def measure(
    request: RunRequest,
    shown: Console,
    *,
    on_own: Callable[[Prepared], None],
    on_record: Callable[[Record], None],
    limits: Limits | None = None,
) -> RunSummary:
    """Measure the cells that are missing in the folder of results.

    Parameters
    ----------
    request : RunRequest
        The run as the user asks for it.
    shown : Console
        For progress and remarks.
    on_own : callable
        Called with the user's own data before anything is measured.
    on_record : callable
        Called with each record when it is on disk.
    limits : Limits, optional
        How often steps are made, in place of the number that follows from the request.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    KeyboardInterrupt
        If the user interrupts; measured cells are kept, with a message.
    """
    media = compared(request.media)
    scratch = for_data(media) if media else folders.check_scratch(request.scratch)
    for each in media:
        shown.print(f"{each.folder}: {each.name}, {each.probe}", soft_wrap=True)
    with ExitStack() as stack:
        own: dict[Path, Prepared] = {}
        if request.user_data:
            folder = stack.enter_context(folders.make(scratch))
            own = _prepared(request, folder, shown)
        say = partial(shown.print, soft_wrap=True)
        cases, fingerprints = cases_of(request, [*own.values()], [each.name for each in media], say)
        if not request.fresh:
            folders.check_no_cluster(request.out)
        folders.open_results(request.out, fresh=request.fresh, fingerprints=fingerprints)
        for found in own.values():
            on_own(found)
        prepared = {found.name: OwnData(found, place).of for place, found in own.items()}
        profiles = {found.name: profile_own(found) for found in own.values()}
        session = _Session(request, cases, scratch, media, prepared, profiles, shown, on_record)
        if math.isinf(request.time_budget_seconds):
            return session.follow(session.runner(limits or limits_of(request)), cases)
        return session.within_budget()


def _prepared(request: RunRequest, folder: Path, shown: Console) -> dict[Path, Prepared]:
    """Return the user's data sets by the folders below a folder that each is left in.

    Raises
    ------
    UserDataError
        If one cannot be read.
    InvalidRequestError
        If they are of several kinds of data, or two have one name.
    """
    found: dict[Path, Prepared] = {}
    for number, source in enumerate(request.user_data):
        place = folder / str(number)
        place.mkdir()
        with ReadingDisplay(shown, source.path) as display:
            own = prepare(source, place, display, request.questions, request.suite)
        for each in found.values():
            if each.family != own.family:
                kinds = [f"{one.name} is {FAMILIES[one.family].user_data}" for one in (each, own)]
                raise InvalidRequestError(f"--data: {joined(kinds)}; measure them in two runs")
            if each.name == own.name:
                problem = f"two data sets have the name {own.name!r} in results"
                raise InvalidRequestError(f"--data {source.path}: {problem}; rename a file")
        found[place] = own
    return found


def cases_of(
    request: RunRequest, own: Sequence[Prepared], media: Sequence[str], say: Callable[[str], object]
) -> tuple[tuple[Case, ...], dict[str, str]]:
    """Return the cases of a request, and the fingerprints of data, questions and plan by name.

    Parameters
    ----------
    request : RunRequest
        The request.
    own : sequence of Prepared
        The user's data sets, of one family, ready to be asked the request's questions.
    media : sequence of str
        Names of the media to compare, if any.
    say : callable
        Called with lines on cells that are left out.

    Raises
    ------
    FormatBenchError
        If nothing can be measured, or a question does not fit the data.
    """
    sizes = [(each.name, each.rows) for each in own]
    made = plan(request, sizes, own[0].family) if own else plan(request)
    for sentence in made.left_out:
        say(f"left out: {sentence}")
    cases = on_media(made.cases, media) if media else made.cases
    if request.questions and not own:
        check_questions(cases)
    return cases, {**_fingerprints(request, own, cases), **made.fingerprints}


def _fingerprints(request: RunRequest, own: Iterable[Prepared], cases: Iterable[Case]) -> dict[str, str]:
    """Return the fingerprints of the user's data and questions, by names in words."""
    found = {each.name: each.fingerprint for each in own}
    if request.questions:
        for dataset in {case.dataset for case in cases}:
            found |= {
                f"question {name!r} to {dataset}": each.fingerprint
                for name, each in request.questions.by_name.items()
            }
            if request.questions.tuned:
                found[f"[tuned] of {dataset}"] = digest(request.questions.tuned)
    return found


def limits_of(request: RunRequest) -> Limits:
    """Return how often the steps of a run are made and repeated."""
    return Limits(
        rounds=min(ROUNDS, request.repeats or ROUNDS),
        repeats=request.repeats or MIN_REPEATS,
        budget_seconds=0 if request.repeats else BUDGET_SECONDS,
        limit_seconds=request.limit_seconds or Limits.limit_seconds,
        time_budget_seconds=request.time_budget_seconds,
    )


@dataclass(frozen=True)
class _Session:
    """A request with its cases, and who follows them."""

    request: RunRequest
    cases: tuple[Case, ...]
    scratch: Path
    media: list[ComparedMedium]
    prepared: Mapping[str, Callable[[int], Outcome]]
    profiles: Mapping[str, Mapping[str, Any]]
    """Facts of the user's tables for predictions, by name."""
    shown: Console
    on_record: Callable[[Record], None]

    def runner(self, limits: Limits) -> Runner:
        """Return a runner of all cases; report the cells of other environments that it finds."""
        found = Runner(
            self.request.out,
            self.scratch,
            limits,
            steps=steps_of(self.request, self.cases),
            prepared=self.prepared,
            media=self.media,
        )
        # A time budget measures samples first, which are told from whole tables by this.
        found.data = {
            case.dataset: {
                "rows": case.rows,
                **self.profiles.get(case.dataset, {}),
                **case.asked_facts,
            }
            for case in self.cases
        }
        found.store.refresh()
        for sentence in found.store.remarks(self.cases, found.steps):
            self.shown.print(sentence, soft_wrap=True)
        return found

    def within_budget(self) -> RunSummary:
        """Measure all cases on a sample of the rows, then on all rows, the cheapest first."""
        budget, cases = TimeBudget(self.request.time_budget_seconds), self.cases
        full = self.runner(limits_of(self.request))
        samples = time_budget.sampled(cases) if full.left(cases) else ()
        if samples:
            sampler = full.sampler(time_budget.sample_limits(budget.seconds, len(cases)))
            self.follow(sampler, samples, is_last=False)
            full.costs = time_budget.costs(cases, samples, sampler.store.read())
        full.limits = replace(full.limits, time_budget_seconds=budget.left_seconds)
        found = self.follow(full, time_budget.cheapest_first(cases, full.costs))
        # In the order of the plan, not of the costs.
        found = replace(found, cases=cases)
        if not full.left(cases):
            return found
        return replace(found, sample=samples, not_run=time_budget.spent(budget.seconds))

    def follow(self, runner: Runner, cases: tuple[Case, ...], *, is_last: bool = True) -> RunSummary:
        """Measure cases with a display; name the steps left at the end."""
        asked = self.request.questions.by_name if self.request.questions else ()
        columns = columns_of(cases[0].suite, cold=self.request.cold, questions=asked)
        earlier = runner.store.read()
        watch, say = MeasuredShare(), partial(self.shown.print, soft_wrap=True)
        if again := runner.store.tried_again(cases):
            say(f"trying {plural(again, 'cell')} again that {_SURROUNDINGS}")
        try:
            with Display(self.shown, cases, runner.left(cases), columns, earlier) as display:
                runner.watch = display.begin
                for record in runner.run(cases):
                    display.add(record)
                    self.on_record(record)
        finally:
            if is_last and (left := len(runner.left(cases))):
                kept = f"results so far are in {self.request.out}; the same command resumes"
                say(f"{left} step{'s are' if left > 1 else ' is'} left; {kept}")
            if is_last and (failed := runner.store.failed_with_surroundings()):
                say(f"{plural(failed, 'cell')} {_SURROUNDINGS}; the same command tries again")
        return RunSummary(cases, columns, runner.store.read(), watch)
