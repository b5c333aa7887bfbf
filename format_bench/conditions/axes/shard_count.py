"""Number of files that the samples of a training are cut into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, operations_of, registry_of


class ShardCount(Axis):
    """Shards of equal size, of loaders that let their user choose how many."""

    name = "shard count"
    help = "Files that samples for training are cut into, e.g. 4,16,64. [default: 16]"
    order = 25

    def parse(self, text: str) -> str:
        """Return the number."""
        if not text.isdecimal() or not int(text):
            raise InvalidRequestError(f"{self.option} {text}: write a number of files, e.g. 16")
        return str(int(text))

    def why_not(self, value: str, case: Case) -> str:
        """Return why a case has no such files."""
        if not operations_of(case.family).has_workers:
            return f"no {case.family.adapter} cuts its data into shards"
        if int(value) > case.rows:
            return f"{case.rows:,} samples cannot be in {int(value):,} shards"
        loader = registry_of(case.family).find(case.format)
        return "" if loader.shards else f"{case.format} has no shards of equal size"

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Prepare samples in so many files; whoever reads them finds the number there."""
        operations.adapter.shards = operations.unchecked.shards = int(value)
        yield
