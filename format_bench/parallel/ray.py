"""Ray as an engine: processes of this machine, or a Ray cluster.

Ray limits no worker's memory: its monitor watches the memory of the whole machine, and the `memory` of a
task only decides where the task runs. So a thread of each worker watches its resident memory every 10 ms
and kills the process beyond the limit, which a fast allocation can exceed before that. Dask's limit is
of the same kind; it is checked by another process.

https://docs.ray.io/en/latest/ray-core/api/doc/ray.remote.html
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Self

from adapter_core.errors import ParallelError
from format_bench.instruments.memory_limit import WATCHING, MemoryLimit
from format_bench.parallel.engine import ParallelEngine, R, T, local_workers, memory_bytes

# Calls of a task whose worker dies, as with Dask.
_ATTEMPTS = 3

_LOOPBACK = "127.0.0.1"

# Shared memory for results, which are small; Ray's default is 30 % of the machine's memory.
_STORE_BYTES = 128 * 2**20


class Engine(ParallelEngine):
    """The workers of Ray, each with one CPU and one task at a time."""

    name = "ray"
    requires = ("ray",)
    extra = "ray"

    def __init__(self, ray: Any, limit_bytes: int = 0) -> None:
        self._ray, self._limit_bytes = ray, limit_bytes

    @classmethod
    def open(cls, where: str) -> Self:
        """Start "local:N" or "local:N:MEMORY" workers, or connect to the cluster at "host:port"."""
        # Ray would report its use to its makers.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        # Its memory monitor kills workers of a machine that others fill.
        os.environ["RAY_memory_monitor_refresh_ms"] = "0"  # noqa: SIM112 (Ray reads this name)
        # By default its workers run 15 steps of niceness below the client, unlike Dask's.
        os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (Ray reads this name)
        import ray
        from ray._private import ray_constants

        # Where clusters are off, as on macOS, its processes listen at the loopback address instead of
        # all interfaces. `ray.init` has no option for it, and replaces 127.0.0.1 by the host's address.
        is_local = where.partition(":")[0] == "local"
        ray_constants.ENABLE_RAY_CLUSTER = not is_local
        options: dict[str, Any] = {"address": where}
        limit_bytes = 0
        if is_local:
            count, memory = local_workers(where)
            limit_bytes = memory_bytes(memory) if memory else 0
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
        opened = cls(ray, limit_bytes)
        if is_local and opened._ray.util.get_node_ip_address() != _LOOPBACK:
            opened.close()
            raise ParallelError(f"Ray {ray.__version__} cannot be kept at the loopback address")
        return opened

    @property
    def workers(self) -> int:
        """Number of CPUs of the cluster; each takes one task."""
        return int(self._ray.cluster_resources()["CPU"])

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call the function on the workers; a task is called again if its worker dies."""
        limit_bytes = self._limit_bytes

        # Ray takes functions only, not other callable objects.
        def call(task: T) -> R:
            if limit_bytes:
                _limit_memory(limit_bytes)
            return function(task)

        remote = self._ray.remote(num_cpus=1, max_retries=_ATTEMPTS)(call)
        futures = [remote.remote(task) for task in tasks]
        try:
            return self._ray.get(futures)
        except self._ray.exceptions.RayError as error:
            limit = f"; each worker may use {limit_bytes:,} bytes" if limit_bytes else ""
            raise ParallelError(f"Ray gave up: {type(error).__name__}{limit}") from error

    def close(self) -> None:
        """End the local processes, or the connection."""
        self._ray.shutdown()


@cache
def _limit_memory(limit_bytes: int) -> None:
    """Watch the resident memory of this worker, for the rest of its life."""
    MemoryLimit(limit_bytes, WATCHING).enter()
