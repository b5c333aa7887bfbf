"""Executor of cells: calls in fresh processes under a case's conditions, budgets of time, and records.

A run, a race, a plan of chunks and a worker of a cluster choose cells and their order; each is measured
and recorded here. Parts of a measurement share a process by a generator function, while that goes well::

    for part, outcome in in_turn(case, parts, measure, data, limit_seconds=60.0, folder=folder):
        ...  # `measure(parts, data)` yields each part with its `Outcome`
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from adapter_core.errors import UnavailableError
from format_bench import conditions
from format_bench.families.cases import Case
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import LITTLE_SPACE, CellStatus, is_of_surroundings
from format_bench.runner import folders

Part = TypeVar("Part")


class TimeBudget:
    """Wall time that may be spent, from the making of the budget on.

    Parameters
    ----------
    seconds : float
        By default no end.
    clock : callable, optional
        Returns seconds.
    spent_seconds : float
        Wall time that is spent already, as on the start of the program.
    """

    def __init__(
        self,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        spent_seconds: float = 0.0,
    ) -> None:
        self.seconds = seconds
        self._clock, self._start = clock, clock() - spent_seconds

    @property
    def elapsed_seconds(self) -> float:
        """Wall time so far."""
        return self._clock() - self._start

    @property
    def left_seconds(self) -> float:
        """Wall time left, at least 0."""
        return max(0.0, self.seconds - self.elapsed_seconds)

    def is_spent(self) -> bool:
        """Return whether no time is left."""
        return self.elapsed_seconds >= self.seconds


def isolated(
    case: Case, call: Callable[..., Any], *arguments: Any, limit_seconds: float, folder: Path
) -> Outcome:
    """Call a function in a fresh process under the conditions of a case; return its outcome.

    Parameters
    ----------
    case : Case
        Whose conditions surround the process, and explain its failure.
    call : callable
        A function of a module.
    *arguments
        Its arguments; pickled.
    limit_seconds : float
        Time after which the process is killed.
    folder : Path
        The folder of the measured files, whose free space may explain a failure.
    """
    try:
        interpreter = conditions.interpreter_of(case)
    except UnavailableError as error:
        return isolation.outcome_of(error)
    with conditions.surrounded(case) as surroundings:
        outcome = isolation.run(
            call,
            *arguments,
            limit_seconds=limit_seconds,
            environment=surroundings.environment,
            entered=surroundings.entered,
            interpreter=interpreter,
        )
    return _explained(case, outcome, folder)


def in_turn(  # noqa: PLR0913 (what is called, and its limits)
    case: Case,
    parts: Sequence[Part],
    call: Callable[..., Iterator[tuple[Part, Outcome | None]]],
    *arguments: Any,
    limit_seconds: float = math.inf,
    budget: TimeBudget | None = None,
    folder: Path,
    after: Callable[[Part, Outcome, list[Part]], list[Part]] = lambda _part, _outcome, rest: rest,
) -> Iterator[tuple[Part, Outcome]]:
    """Yield parts with their outcomes, measured one after another in one process while that goes well.

    A part that ends the process costs itself alone: the others go on in another one. A part that crashes
    after others in its process is tried again alone, as the others may be to blame.

    Parameters
    ----------
    case : Case
        As `isolated` takes it; all parts are measured under its conditions.
    parts : sequence
        Anything that can be pickled.
    call : callable
        A generator function of a module; called with the parts and the arguments. It yields the parts in
        order, each with its outcome, or with None if it leaves it out. It may return before the last.
    *arguments
        Its further arguments; pickled.
    limit_seconds : float
        Wall time of one process; needed without a budget.
    budget : TimeBudget, optional
        Of all processes; parts that it ends, or leaves no time for, are not yielded.
    folder : Path
        As `isolated` takes it.
    after : callable, optional
        Called with a part, its outcome and the parts after it, if the process has ended at this part, or
        the last one has failed. Returns the parts to go on with in another process; by default those
        after it.
    """
    left, budget = list(parts), budget or TimeBudget()
    is_suspect = False
    while left and not budget.is_spent():
        limit = min(limit_seconds, budget.left_seconds)
        taken = left[:1] if is_suspect else left
        whole = isolated(case, call, taken, *arguments, limit_seconds=limit, folder=folder)
        found: list[tuple[Part, Outcome | None]] = [
            (part, outcome and _explained(case, outcome, folder)) for part, outcome in whole.yielded
        ]
        yield from ((part, outcome) for part, outcome in found if outcome is not None)
        left = left[len(found) :]
        is_suspect = bool(found) and whole.status is CellStatus.FAILED and len(found) < len(taken)
        is_done = len(found) == len(taken) and not (found[-1][1] and found[-1][1].status)
        if is_done or is_suspect or budget.is_spent():
            continue
        if whole.status:
            ended, outcome = left.pop(0), replace(whole, yielded=())
            yield ended, outcome
        elif found:
            ended, outcome = found[-1][0], found[-1][1] or Outcome()
        else:
            return
        left = after(ended, outcome, left)


def _explained(case: Case, outcome: Outcome, folder: Path) -> Outcome:
    """Add to the reason of a failure its conditions, and that the disk is almost full.

    Libraries may not report it.
    """
    outcome = conditions.explained(case, outcome)
    if outcome.status is not CellStatus.FAILED or is_of_surroundings(outcome.status, outcome.sentence):
        return outcome
    free = shutil.disk_usage(folder).free
    if free >= folders.LEAST_FREE_BYTES:
        return outcome
    return replace(outcome, sentence=f"{outcome.sentence}; {free / 1e6:.1f} MB were {LITTLE_SPACE}")
