"""Dask as an engine: any scheduler that `format_bench.clusters` connects to.

https://distributed.dask.org/en/stable/api.html#distributed.Client.map
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

from adapter_core.errors import ClusterError, ParallelError
from format_bench.clusters.connection import SCHEDULER_LOST, connect
from format_bench.parallel.engine import ParallelEngine, R, T
from format_bench.results.display.text import joined

if TYPE_CHECKING:
    from distributed import Client


class Engine(ParallelEngine):
    """The workers of a Dask cluster, each with one task at a time."""

    name = "dask"
    requires = ("dask", "distributed")

    def __init__(self, client: Client, opened: ExitStack) -> None:
        self._client, self._opened = client, opened

    @classmethod
    def open(cls, where: str) -> Self:
        """Connect to a cluster, as `format_bench.clusters.connection` describes it.

        Raises
        ------
        ClusterError
            If that cannot be, or a worker has several threads.
        """
        with ExitStack() as stack:
            client = stack.enter_context(connect(where))
            if where.startswith("local:"):
                # Else the first worker would take the tasks of those that still start.
                client.wait_for_workers(int(where.split(":")[1]))
            # Tasks in one process would count each other's CPU time and memory.
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            if threaded := [str(each["name"]) for each in workers if each["nthreads"] != 1]:
                raise ClusterError(
                    f"{where}: {joined(threaded)}: several threads; start workers with --nthreads 1"
                )
            return cls(client, stack.pop_all())

    @property
    def workers(self) -> int:
        """Number of the cluster's workers."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call the function on the workers; a task is called again if its worker dies, up to 3 times.

        Raises
        ------
        ParallelError
            If a worker died too often.
        ClusterError
            If the scheduler is lost.
        """
        from distributed import CancelledError, KilledWorker
        from distributed.client import ClosedClientError

        futures: list[Any] = []
        try:
            # Equal tasks are different measurements: pure functions would be called once.
            futures = self._client.map(function, tasks, pure=False)
            return self._client.gather(futures)
        except KilledWorker as error:
            reason = f"the task was on {error.allowed_failures + 1} workers that died"
            raise ParallelError(f"Dask gave up: {reason}") from error
        except (CancelledError, ClosedClientError, OSError) as error:
            # Errors of tasks are among their results.
            raise ClusterError(SCHEDULER_LOST) from error
        finally:
            with suppress(ClosedClientError):
                self._client.cancel(futures)

    def close(self) -> None:
        """Close the connection, and the workers of a local cluster."""
        self._opened.close()
