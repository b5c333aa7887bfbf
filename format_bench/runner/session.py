"""A run from what a user asked for to what it has found: data, plan, folders, runner, display."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidRequestError
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.operations.cases import IMAGE_STEPS, STEPS, Case, Step, Suite
from format_bench.runner import folders
from format_bench.runner.plan import Wishes, plan
from format_bench.runner.progress import Column, Display, columns_of
from format_bench.runner.runner import Runner
from format_bench.runner.timing import Stopwatch
from format_bench.runner.user_data import Prepared, Source, prepare

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.instruments.threads import Threads
    from format_bench.results.records import Record


ROUNDS = 3
"""In how many processes each step is made, if it is repeated so often."""

BUDGET_SECONDS = 6.0
"""Wall time of the repeats of a step, of all rounds together, if their number is not given."""


@dataclass(frozen=True)
class Options:
    """What a user asked for; what is not given is as `format-bench run --help` says."""

    out: Path
    suite: Suite | None = None
    formats: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    rows: int | None = None
    codecs: tuple[str, ...] = ()
    own: Source | None = None
    repeats: int | None = None
    cold: bool = False
    threads: Threads = "all"
    time_budget_seconds: float = math.inf
    scratch: Path | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Finding:
    """What a run has come to."""

    cases: tuple[Case, ...]
    columns: tuple[Column, ...]
    """What a table of the results shows."""
    records: list[Record]
    """All that the folder of results holds."""
    watch: Stopwatch


def measure(
    options: Options,
    shown: Console,
    *,
    on_own: Callable[[Prepared], None],
    on_record: Callable[[Record], None],
) -> Finding:
    """Measure what the folder of results does not hold yet.

    Parameters
    ----------
    options : Options
        What the user asked for.
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
        If the user interrupts; what was measured is kept, and that is said.
    """
    scratch = folders.check_scratch(options.scratch)
    with ExitStack() as stack:
        own: Prepared | None = None
        if options.own is not None:
            own = prepare(options.own, stack.enter_context(folders.make(scratch)))
        wishes = _wishes(options, own)
        made = plan(wishes, [(own.name, own.rows)] if own else ())
        for sentence in made.left_out:
            shown.print(f"left out: {sentence}", soft_wrap=True)
        folders.open_results(options.out, fresh=options.fresh)
        if own:
            folders.check_same_data(options.out, own.name, own.fingerprint)
            on_own(own)
        runner = _runner(options, scratch, own)
        return _follow(runner, made.cases, options, shown, on_record)


def _wishes(options: Options, own: Prepared | None) -> Wishes:
    suite = options.suite or (own.suite if own else "tabular")
    if own and (suite == "image") != (own.suite == "image"):
        held = "a folder of images" if own.suite == "image" else "a table"
        raise InvalidRequestError(f"--suite {suite}: {own.name} is {held}")
    return Wishes(
        suite, options.formats, options.datasets, options.rows, options.codecs, options.threads
    )


def _runner(options: Options, scratch: Path, own: Prepared | None) -> Runner:
    return Runner(
        options.out,
        scratch,
        rounds=min(ROUNDS, options.repeats or ROUNDS),
        repeats=options.repeats or MIN_REPEATS,
        budget_seconds=0 if options.repeats else BUDGET_SECONDS,
        time_budget_seconds=options.time_budget_seconds,
        steps=_steps(cold=options.cold),
        prepared={own.name: own.place} if own else {},
    )


def _steps(*, cold: bool) -> tuple[Step, ...]:
    return tuple(step for step in (*STEPS, *IMAGE_STEPS) if cold or step.cache != "cold")


def _follow(
    runner: Runner,
    cases: tuple[Case, ...],
    options: Options,
    shown: Console,
    on_record: Callable[[Record], None],
) -> Finding:
    columns = columns_of(cases[0].suite, cold=options.cold)
    earlier = runner.read()
    watch = Stopwatch(earlier)
    try:
        with Display(shown, cases, runner.left(cases), columns, earlier) as display:
            runner.watch = display.begin
            for record in runner.run(cases):
                watch.add(record)
                display.add(record)
                on_record(record)
    finally:
        if left := len(runner.left(cases)):
            steps = f"{left} step{'s are' if left > 1 else ' is'} left"
            told = f"{steps}; what is measured is in {options.out}, and the same command goes on"
            shown.print(told, soft_wrap=True)
    return Finding(cases, columns, runner.read(), watch)
