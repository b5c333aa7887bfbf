"""The runner's steps on a case, called in fresh processes."""

from __future__ import annotations

import gc
import signal
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench import conditions
from format_bench.families.measuring import measure_step, measure_steps
from format_bench.families.operations import Operations, operations_of, registry_of
from format_bench.instruments.isolation import Outcome, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from format_bench.families.cases import Case
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step

    Group = tuple[Step, ...]


@contextmanager
def operations_on(case: Case, data: Path, *, is_warm: bool = True) -> Iterator[Operations]:
    """Provide the operations of a case on stored data under its conditions, by default warmed up."""
    adapter = registry_of(case.family).get(case.format)
    operations = operations_of(case.family).on(
        data,
        *(adapter, case.codec, case.level, case.track),
        subject=(case.dataset, case.rows),
        questions=case.asked,
        is_warm=is_warm,
    )
    operations.steps = tuple(each.name for each in case.steps)
    with conditions.under(case, operations):
        yield operations


def store_data(case: Case, path: Path) -> tuple[int, int]:
    """Generate the data of a case and store them; return the number of rows and columns."""
    operations = operations_of(case.family)
    data = operations.generate(case.dataset, case.rows)
    return operations.store(operations.asking(data, case.asked), path)


def run_steps(
    groups: Sequence[Group], case: Case, data: Path, file: Path, effort: Effort
) -> Iterator[tuple[Group, Outcome]]:
    """Yield groups of steps, each with its metrics by step as `measure_steps` returns them.

    The process ends with the first error, after which it may not be as others expect it.
    """
    with operations_on(case, data) as operations:
        for steps in groups:
            try:
                loader = partial(operations.load, data)
                outcome = Outcome(measure_steps(steps, operations, loader, file, effort))
            except Exception as error:
                outcome = outcome_of(error)
            yield steps, outcome
            if outcome.status:
                return


@dataclass(frozen=True)
class SharedTrial:
    """Steps on each of some cases that share a process, on files of their own.

    Importing a library takes up to two seconds, a fork 20 ms, and a format on a sample a few: so choices
    of one format share a process.
    """

    steps: tuple[tuple[Step, Effort], ...]
    case_limit_seconds: float
    """Wall time of one case, after which it counts as timed out."""
    slow_seconds: float
    """Wall time of a case, after imports, above which the same case with more rows is left out."""


def run_cases(
    cases: Sequence[Case], trial: SharedTrial, data: Mapping[int, Path], folder: Path
) -> Iterator[tuple[Case, Outcome | None]]:
    """Yield cases, each with its steps and their outcomes; None if it is left out.

    Parameters
    ----------
    cases : sequence of Case
        Under the same conditions; those that differ in rows alone are neighbours.
    trial : SharedTrial
        The steps and their limits.
    data : mapping of int to Path
        The stored data by number of rows.
    folder : Path
        An existing folder for the measured files.
    """
    # The objects of all imports, which collections before and after each measured call would search.
    gc.freeze()
    slow: set[Case] = set()
    for case in cases:
        if replace(case, rows=0) in slow:
            yield case, None
            continue
        # The signal's default action ends the process, also one that hangs in a library's own code.
        signal.setitimer(signal.ITIMER_REAL, trial.case_limit_seconds)
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            file = Path(place, case.file_name)
            found, seconds = run_case(case, trial.steps, data[case.rows], file)
        if seconds > trial.slow_seconds:
            slow.add(replace(case, rows=0))
        yield case, Outcome(found)
    signal.setitimer(signal.ITIMER_REAL, 0)


def run_case(
    case: Case, steps: Sequence[tuple[Step, Effort]], data: Path, file: Path
) -> tuple[dict[Step, Outcome], float]:
    """Return the outcomes of steps, and the seconds that all took without imports and warm-up.

    An error of one leaves out the later ones, unless it is of a cold read.
    """
    found: dict[Step, Outcome] = {}
    operations: Operations | None = None
    start = time.monotonic()
    with ExitStack() as stack:
        for step, effort in steps:
            try:
                if operations is None:
                    operations = stack.enter_context(operations_on(case, data))
                    start = time.monotonic()
                loader = partial(operations.load, data)
                found[step] = Outcome(measure_step(step, operations, loader, file, effort))
            except Exception as error:
                found[step] = outcome_of(error)
                if step.cache != "cold":
                    break
    return found, time.monotonic() - start


def leave_file(case: Case, data: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    with operations_on(case, data) as operations:
        loaded = operations.load(data)
        operations.check(loaded)
        operations.save(loaded, file)
