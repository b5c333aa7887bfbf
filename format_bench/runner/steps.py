"""The runner's steps on a case, called in fresh processes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from format_bench.families.measuring import measure_steps
from format_bench.families.operations import Measured, Operations, operations_of, registry_of
from format_bench.instruments import threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from format_bench.families.cases import Case
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step


def operations_on(case: Case, data: Path) -> Operations:
    """Return the operations of a case on stored data, warmed up and under the case's thread policy."""
    family = case.family
    adapter = registry_of(family).get(case.format)
    operations = operations_of(family)(adapter, case.codec, case.level, case.track)
    operations.subject = case.dataset, case.rows
    operations.expect(data)
    operations.warm_up()
    threads.apply(case.threads)
    operations.threads = case.threads
    return operations


def store_data(case: Case, path: Path) -> tuple[int, int]:
    """Generate the data of a case and store them; return the number of rows and columns."""
    operations = operations_of(case.family)
    return operations.store(operations.generate(case.dataset, case.rows), path)


def run_steps(
    steps: Sequence[Step], case: Case, data: Path, file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure the metrics of steps; see `measure_steps` for the result and the errors raised."""
    operations = operations_on(case, data)
    return measure_steps(steps, operations, partial(operations.load, data), file, effort)


def leave_file(case: Case, data: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    operations = operations_on(case, data)
    loaded = operations.load(data)
    operations.check(loaded)
    operations.save(loaded, file)
