"""Local workers: processes of Dask that save and read partitions, or processes of a training loader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import ElsewhereAxis
from format_bench.families.cases import Case
from format_bench.families.elsewhere import measure_scale
from format_bench.families.operations import Measured, Operations, operations_of
from format_bench.instruments.clock import Effort
from format_bench.results.suites import Step

_FORM = re.compile(r"([1-9]\d*)(?:x([1-9]\d*))?")


class Workers(ElsewhereAxis):
    """Workers and partitions of a table, or workers of a training loader."""

    name = "workers"
    help = "Numbers of workers, or workers x partitions of a table, e.g. 2 or 1x4,2x4. [default: none]"
    order = 35
    word = "parallel"

    def parse(self, text: str) -> str:
        """Return both numbers; there are as many partitions as workers if one is given."""
        found = _FORM.fullmatch(text.lower())
        if not found:
            raise InvalidRequestError(f"{self.option} {text}: write e.g. 2 or 2x4 (partitions)")
        return f"{found[1]}x{found[2] or found[1]}"

    def why_not(self, value: str, case: Case) -> str:
        """Return why a case cannot be spread."""
        workers, partitions = map(int, value.split("x"))
        if operations_of(case.family).has_workers:
            return "" if workers == partitions else "a training loader has workers, and no partitions"
        if case.family.name != "tables" or case.track:
            return f"workers save and read whole tables, which the suite {case.suite} does not"
        if case.codec:
            return "a table on workers has the codec that its format takes by itself"
        if case.dataset not in operations_of(case.family).datasets():
            return f"workers make the rows of their partitions, and {case.dataset} is not generated"
        if case.rows < partitions:
            return f"{case.rows:,} rows cannot be in {partitions:,} partitions"
        return ""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Measure on workers: of the family's own steps, or in the place of this process."""
        if operations.has_workers:
            operations.workers = int(value.partition("x")[0])
            yield
            return

        def measure(step: Step, file: Path, effort: Effort) -> list[Measured]:  # noqa: ARG001
            what = operations.adapter.label, operations.subject, f"{value} local", file.parent
            return self.times(step, lambda metrics: measure_scale(*what, metrics))

        operations.measure = measure  # type: ignore[method-assign]
        yield
