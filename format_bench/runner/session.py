"""Session of a run: from the request to the records, with data, plan, folders, runner and display."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.instruments.clock import MIN_REPEATS
from format_bench.results import noise_floor
from format_bench.results.load import RESULTS
from format_bench.runner import folders
from format_bench.runner.plan import RunRequest, plan
from format_bench.runner.progress import Display, MeasureColumn, columns_of
from format_bench.runner.runner import Limits, Runner
from format_bench.runner.timing import MeasuredShare
from format_bench.runner.user_data import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from format_bench.families.cases import Case
    from format_bench.results.records import Record


# In how many processes each step is made, if it is repeated so often.
ROUNDS = 3

# Wall time of the repeats of a step, of all rounds together, if their number is not given.
BUDGET_SECONDS = 6.0


@dataclass(frozen=True)
class RunSummary:
    """Outcome of a session."""

    cases: tuple[Case, ...]
    columns: tuple[MeasureColumn, ...]
    """Columns of the table of results."""
    records: list[Record]
    """All records in the folder of results."""
    watch: MeasuredShare


def measure(
    request: RunRequest,
    shown: Console,
    *,
    on_own: Callable[[Prepared], None],
    on_record: Callable[[Record], None],
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

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    KeyboardInterrupt
        If the user interrupts; measured cells are kept, and a message says so.
    """
    scratch = folders.check_scratch(request.scratch)
    with ExitStack() as stack:
        own: Prepared | None = None
        if request.user_data is not None:
            own = prepare(request.user_data, stack.enter_context(folders.make(scratch)))
        made = plan(request, [(own.name, own.rows)], own.family) if own else plan(request)
        for sentence in made.left_out:
            shown.print(f"left out: {sentence}", soft_wrap=True)
        folders.open_results(request.out, fresh=request.fresh)
        if own:
            folders.check_same_data(request.out, own.name, own.fingerprint)
            on_own(own)
        runner = _runner(request, made.cases, scratch, own)
        return _follow(runner, made.cases, request, shown, on_record)


def _runner(request: RunRequest, cases: Sequence[Case], scratch: Path, user: Prepared | None) -> Runner:
    limits = Limits(
        rounds=min(ROUNDS, request.repeats or ROUNDS),
        repeats=request.repeats or MIN_REPEATS,
        budget_seconds=0 if request.repeats else BUDGET_SECONDS,
        time_budget_seconds=request.time_budget_seconds,
    )
    steps = {step.name for step in cases[0].steps if request.cold or step.cache != "cold"}
    prepared = {user.name: user.place} if user else {}
    return Runner(request.out, scratch, limits, steps=steps, prepared=prepared)


def _follow(
    runner: Runner,
    cases: tuple[Case, ...],
    request: RunRequest,
    shown: Console,
    on_record: Callable[[Record], None],
) -> RunSummary:
    columns = columns_of(cases[0].suite, cold=request.cold)
    earlier, floors = runner.read(), noise_floor.beside(request.out / RESULTS)
    watch = MeasuredShare(earlier)
    try:
        with Display(shown, cases, runner.left(cases), columns, earlier, floors) as display:
            runner.watch = display.begin
            for record in runner.run(cases):
                watch.add(record)
                display.add(record)
                on_record(record)
    finally:
        if left := len(runner.left(cases)):
            steps = f"{left} step{'s are' if left > 1 else ' is'} left"
            told = f"{steps}; what is measured is in {request.out}, and the same command goes on"
            shown.print(told, soft_wrap=True)
    return RunSummary(cases, columns, runner.read(), watch)
