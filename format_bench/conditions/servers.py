"""Axes of saves to an object server and reads from it, in the place of local files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from format_bench.conditions.axis import ElsewhereAxis
from format_bench.families.cases import Case
from format_bench.families.elsewhere import measure_remote
from format_bench.families.operations import Measured, Operations, operations_of
from format_bench.instruments.clock import Effort
from format_bench.network.client import ARRAY, TABLE
from format_bench.results.suites import Step

REMOTE = "remote"
"""Name of the step of suites on object stores, and first word of its metrics."""


class ServerAxis(ElsewhereAxis):
    """An axis of suites on object stores, and of any suite that saves and reads tables or arrays."""

    word = REMOTE

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (of any value)
        """Return why a case reaches no server."""
        of_family = operations_of(case.family)
        if of_family.measures_at_servers or any(each.name == REMOTE for each in case.steps):
            return ""
        if case.family.name not in {TABLE, ARRAY}:
            return f"no {case.family.adapter} writes to object stores"
        if case.codec or case.track:
            return "a table or an array is saved in an object store without codec and track"
        return ""

    @abstractmethod
    def set_on(self, operations: Operations, value: str) -> None:
        """Note a value for the steps that reach a server."""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let saves and reads be made at the server, unless the suite has a step for that."""
        self.set_on(operations, value)

        def measure(step: Step, file: Path, effort: Effort) -> list[Measured]:  # noqa: ARG001
            return self.times(step, lambda metrics: at_server(file, metrics))

        def at_server(file: Path, metrics: tuple[str, ...]) -> list[Measured]:
            if not file.exists():  # clients take their data from a local file
                operations.save(operations.load(operations.data_file), file)
            what = operations.family, operations.adapter.label, file, metrics
            return measure_remote(*what, link=operations.link, bucket=operations.bucket)

        if REMOTE not in operations.steps and not operations.measures_at_servers:
            operations.measure = measure  # type: ignore[method-assign]
        yield
