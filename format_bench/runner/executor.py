"""Executor of cells: calls in fresh processes under a case's conditions, budgets of time, and records.

A run, a race, a plan of chunks and a worker of a cluster choose cells and their order; each is measured
and recorded here.
"""

from __future__ import annotations

import math
import secrets
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapter_core.errors import WrongValuesError
from format_bench import conditions
from format_bench.instruments import isolation
from format_bench.results.records import Key, Record, key
from format_bench.results.status import LITTLE_SPACE, CellStatus, is_of_surroundings
from format_bench.runner import folders
from format_bench.runner.recording import combined, records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from format_bench.families.cases import Case
    from format_bench.instruments.isolation import Outcome
    from format_bench.results.suites import Step
    from format_bench.runner.result_store import ResultStore


class TimeBudget:
    """Wall time that may be spent, from the making of the budget on.

    Parameters
    ----------
    seconds : float
        By default no end.
    clock : callable, optional
        Returns seconds.
    """

    def __init__(self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock, self._start = clock, clock()

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
    with conditions.surrounded(case) as surroundings:
        outcome = isolation.run(
            call,
            *arguments,
            limit_seconds=limit_seconds,
            environment=surroundings.environment,
            entered=surroundings.entered,
        )
    return _with_space(conditions.explained(case, outcome), folder)


def _with_space(outcome: Outcome, folder: Path) -> Outcome:
    """Add to the reason of a failure that the disk is almost full, which libraries may not say."""
    if outcome.status is not CellStatus.FAILED or is_of_surroundings(outcome.status, outcome.sentence):
        return outcome
    free = shutil.disk_usage(folder).free
    if free >= folders.LEAST_FREE_BYTES:
        return outcome
    return replace(outcome, sentence=f"{outcome.sentence}; {free / 1e6:.1f} MB were {LITTLE_SPACE}")


def new_run_id() -> str:
    """Return an id of the records of one run: when it began, and some random digits."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def keep(  # noqa: PLR0913, PLR0917 (a store, and what was measured)
    store: ResultStore,
    run_id: str,
    case: Case,
    columns: int,
    step: Step,
    outcome: Outcome,
    lacks: Callable[[Key], bool] = lambda _: True,
) -> Iterator[Record]:
    """Yield the records of a step after one more round; each is on disk then.

    Parameters
    ----------
    store : ResultStore
        The results.
    run_id : str
        Id of the run.
    case : Case
        The case.
    columns : int
        Columns of its data; 0 if there are none.
    step : Step
        The step that was made.
    outcome : Outcome
        Its outcome.
    lacks : callable, optional
        Returns whether a cell has no samples of this round: a run that was killed between two cells of
        a step has left the first.
    """
    is_wrong = outcome.error == WrongValuesError.__name__
    # How fast wrong data were saved is of no interest.
    for each in dict.fromkeys([case.steps[0], step]) if is_wrong else [step]:
        for found in records_of(case, columns, each, outcome, run_id):
            if is_wrong or lacks(key(found)):
                record = combined(store.current.get(key(found)), found, outcome)
                store.append(record)
                yield record
