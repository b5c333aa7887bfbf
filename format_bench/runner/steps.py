"""The runner's steps on a case, called in fresh processes."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from format_bench import conditions
from format_bench.families.measuring import measure_steps
from format_bench.families.operations import Operations, operations_of, registry_of
from format_bench.instruments.isolation import Outcome, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from format_bench.families.cases import Case
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step

    Group = tuple[Step, ...]


@contextmanager
def operations_on(case: Case, data: Path) -> Iterator[Operations]:
    """Provide the operations of a case on stored data, warmed up and under the case's conditions."""
    adapter = registry_of(case.family).get(case.format)
    operations = operations_of(case.family).on(
        data,
        *(adapter, case.codec, case.level, case.track),
        subject=(case.dataset, case.rows),
        questions=case.asked,
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


def leave_file(case: Case, data: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    with operations_on(case, data) as operations:
        loaded = operations.load(data)
        operations.check(loaded)
        operations.save(loaded, file)
