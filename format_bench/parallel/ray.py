"""Ray as an engine: processes of this machine, or a Ray cluster.

https://docs.ray.io/en/latest/ray-core/api/doc/ray.remote.html
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

from adapter_core.errors import ParallelError
from format_bench.parallel.engine import ParallelEngine, R, T, local_workers

_ATTEMPTS = 3
"""Calls of a task whose worker dies, as with Dask."""

_STORE_BYTES = 128 * 2**20
"""Shared memory for results, which are small; Ray's default is 30 % of the machine's memory."""


class Engine(ParallelEngine):
    """The workers of Ray, each with one CPU and one task at a time."""

    name = "ray"
    requires = ("ray",)
    extra = "ray"

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @classmethod
    def open(cls, where: str) -> Self:
        """Start "local:N" workers, or connect to the cluster at "host:port"."""
        # Ray would report its use to its makers.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        # Its memory monitor kills workers of a machine that others fill.
        os.environ["RAY_memory_monitor_refresh_ms"] = "0"  # noqa: SIM112 (Ray reads this name)
        # By default its workers run 15 steps of niceness below the client, unlike those of Dask.
        os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (Ray reads this name)
        import ray

        options: dict[str, Any] = {"address": where}
        if where.startswith("local"):
            count, _ = local_workers(where)
            options = {
                "address": "local",
                "num_cpus": count,
                "object_store_memory": _STORE_BYTES,
                "include_dashboard": False,
            }
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except Exception as error:
            raise ParallelError(f"Ray does not start: {error}") from error
        return cls(ray)

    @property
    def workers(self) -> int:
        """Number of CPUs of the cluster; each takes one task."""
        return int(self._ray.cluster_resources()["CPU"])

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call the function on the workers; a task is called again if its worker dies."""

        # Ray takes functions only, not other callable objects.
        def call(task: T) -> R:
            return function(task)

        remote = self._ray.remote(num_cpus=1, max_retries=_ATTEMPTS)(call)
        futures = [remote.remote(task) for task in tasks]
        try:
            return self._ray.get(futures)
        except self._ray.exceptions.RayError as error:
            raise ParallelError(f"Ray gave up: {type(error).__name__}") from error

    def close(self) -> None:
        """End the local processes, or the connection."""
        self._ray.shutdown()
