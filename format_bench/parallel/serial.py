"""Serial engine: the tasks one after the other in this process, the reference of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from format_bench.parallel.engine import ParallelEngine, R, T


class Engine(ParallelEngine):
    """The client as the only worker."""

    name = "serial"

    @classmethod
    def open(cls, where: str) -> Self:
        """Return the engine; `where` has no meaning."""
        del where
        return cls()

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call the function in this process."""
        return [function(task) for task in tasks]

    def close(self) -> None:
        """Do nothing: no worker was started."""
