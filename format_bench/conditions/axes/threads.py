"""Threads of libraries: one, or as many as there are CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from format_bench.conditions.axis import Axis, Surroundings
from format_bench.families.operations import Operations
from format_bench.instruments import threads


class Threads(Axis):
    """Threads that libraries may use."""

    name = "threads"
    help = "Threads of the libraries: 1, all, or 1,all. [default: all]"
    order = 90
    default = "all"

    def values(self) -> Sequence[str]:
        """Return the policies."""
        return get_args(threads.Threads)

    @contextmanager
    def surrounded(self, value: str) -> Iterator[Surroundings]:
        """Provide the variables that libraries read once, when they are imported."""
        yield Surroundings(threads.environment("1" if value == "1" else "all"))

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Set the threads of the imported libraries."""
        operations.threads = "1" if value == "1" else "all"
        threads.apply(operations.threads)
        yield
