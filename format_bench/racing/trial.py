"""Trial of cases of one format: measured one after another in one fresh process.

Importing a library takes up to two seconds, a fork 20 ms, and a format on a sample a few: so choices of
one format share a process. It writes each outcome to a file, from which the others are read if one case
crashes or hangs; the cases after that one are measured in another process.
"""

from __future__ import annotations

import gc
import math
import pickle
import signal
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from format_bench.families.measuring import measure_step
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.runner.executor import TimeBudget, isolated
from format_bench.runner.steps import operations_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from format_bench.families.cases import Case
    from format_bench.families.operations import Operations
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step


@dataclass(frozen=True)
class TrialPlan:
    """Measurements of one trial."""

    cases: tuple[Case, ...]
    """Of one format under the same conditions; those that differ in rows alone are neighbours."""
    steps: tuple[tuple[Step, Effort], ...]
    data: Mapping[int, Path]
    """The stored data by number of rows."""
    limit_seconds: float
    """Wall time of the trial, after which the rest is not measured."""
    case_limit_seconds: float
    """Wall time of one case, after which it counts as timed out."""
    slow_seconds: float = math.inf
    """Wall time of a case, after imports, above which the same case with more rows is left out."""


class StepOutcome(NamedTuple):
    """Outcome of one step on one case."""

    case: Case
    step: Step
    outcome: Outcome


# A step under way, in the file between its start and its outcome.
Start = tuple["Case", "Step"]


def run(plan: TrialPlan, folder: Path) -> list[StepOutcome]:
    """Measure the cases of a plan and return the outcomes; cases that had no time have none.

    Parameters
    ----------
    plan : TrialPlan
        The cases; those that follow on a crash or a hang are measured in a further process.
    folder : Path
        The folder for measured files.
    """
    budget = TimeBudget(plan.limit_seconds)
    found: list[StepOutcome] = []
    left = list(plan.cases)
    while left and (limit := budget.left_seconds) > 0:
        with tempfile.TemporaryDirectory(dir=folder, prefix="trial-") as place:
            spool = Path(place, "outcomes")
            spool.touch()
            whole = isolated(
                left[0], _measure, left, plan, limit, Path(place), limit_seconds=limit, folder=folder
            )
            entries = list(_read(spool))
        found += [each for each in entries if isinstance(each, StepOutcome)]
        if not whole.status:
            break
        last = entries[-1] if entries else None
        case, step = (left[0], plan.steps[0][0]) if last is None else last[:2]
        if budget.is_spent():
            # The budget interrupted the case, which may be measured later.
            return [each for each in found if each.case != case]
        if whole.status is CellStatus.TIMED_OUT:
            limit = plan.case_limit_seconds
            whole = replace(whole, sentence=f"not finished after {limit:.0f} seconds")
        found.append(StepOutcome(case, step, whole))
        rest = left[left.index(case) + 1 :]
        left = [each for each in rest if (each.codec, each.level) != (case.codec, case.level)]
    return found


def _measure(cases: Sequence[Case], plan: TrialPlan, limit_seconds: float, place: Path) -> None:
    """Measure cases, in a process of their own; start none after the limit."""
    budget = TimeBudget(limit_seconds)
    # The objects of all imports, which collections before and after each measured call would search.
    gc.freeze()
    slow: set[tuple[str | None, int | None]] = set()
    with (place / "outcomes").open("wb") as spool:
        for number, case in enumerate(cases):
            if (case.codec, case.level) in slow:
                continue
            if budget.is_spent():
                return
            # The signal's default action ends the process, also one that hangs in a library's own code.
            signal.setitimer(signal.ITIMER_REAL, plan.case_limit_seconds)
            if _measure_case(case, plan, place / str(number), spool) > plan.slow_seconds:
                slow.add((case.codec, case.level))
    signal.setitimer(signal.ITIMER_REAL, 0)


def _measure_case(case: Case, plan: TrialPlan, folder: Path, spool: IO[bytes]) -> float:
    """Measure a case and return the seconds that it took, without imports and warm-up."""
    folder.mkdir()
    file = folder / case.file_name
    operations: Operations | None = None
    start = time.monotonic()
    with ExitStack() as stack:
        for step, effort in plan.steps:
            _write((case, step), spool)
            try:
                if operations is None:
                    operations = stack.enter_context(operations_on(case, plan.data[case.rows]))
                    start = time.monotonic()
                data = partial(operations.load, plan.data[case.rows])
                outcome = Outcome(measure_step(step, operations, data, file, effort))
            except Exception as error:
                outcome = isolation.outcome_of(error)
            _write(StepOutcome(case, step, outcome), spool)
            if outcome.status and step.cache != "cold":
                break
    return time.monotonic() - start


def _write(entry: StepOutcome | Start, spool: IO[bytes]) -> None:
    pickle.dump(entry, spool)
    spool.flush()


def _read(spool: Path) -> Iterator[StepOutcome | Start]:
    """Yield the entries of a file; the last one may be torn."""
    with spool.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)  # noqa: S301 (written by `_measure`)
            except (EOFError, pickle.UnpicklingError):
                return
