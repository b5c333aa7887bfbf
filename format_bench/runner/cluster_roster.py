"""Roster of a cluster: its workers by address, which are described before they measure."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError, FormatBenchError
from format_bench.clusters.dispatching import Worker
from format_bench.metadata.fingerprint import sources_digest
from format_bench.runner import cluster_worker

if TYPE_CHECKING:
    from distributed import Client, Future

    from format_bench.runner.cluster_ledger import ClusterRun
    from format_bench.runner.cluster_worker import Description, WorkerStatus

ANSWER_SECONDS = 60.0
"""Time within which a worker hands over a result that it has."""

REASON_LENGTH = 300


class Roster:
    """Workers of a cluster: those that take part, those left out, and those not described yet.

    Parameters
    ----------
    client : distributed.Client
        A connection to the cluster.
    run : ClusterRun
        The run.
    """

    def __init__(self, client: Client, run: ClusterRun) -> None:
        self.workers: dict[str, Worker] = {}
        """Workers that take part, by address."""
        self.left_out: dict[str, str] = {}
        """Reasons of the others, by address."""
        self.descriptions: dict[str, Description] = {}
        """A description of each kind of machine, by fingerprint."""
        self._client, self._run = client, run
        self._pending: set[str] = set()
        """Addresses of workers that are being described."""

    @property
    def is_complete(self) -> bool:
        """True if no worker is being described."""
        return not self._pending

    @property
    def workers_by_machine(self) -> Counter[str]:
        """Numbers of the workers that take part, by fingerprint."""
        return Counter(worker.machine for worker in self.workers.values())

    @property
    def hosts_by_machine(self) -> Counter[str]:
        """Numbers of their hosts, by fingerprint."""
        found = {(worker.machine, worker.host) for worker in self.workers.values()}
        return Counter(machine for machine, _ in found)

    @property
    def hosts(self) -> int:
        """Number of the addresses from which workers are connected now, described or not."""
        return len({worker["host"] for worker in self._connected().values()})

    def check_scheduler(self) -> None:
        """Check the connection to the scheduler.

        Raises
        ------
        ClusterError
            If it is lost.
        """
        if self._client.status != "running":
            raise ClusterError("the scheduler was lost; start it and the workers again")

    def ask(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Call a function at once on each worker, also on busy ones; return the results by address.

        A worker that fails is left out.

        Raises
        ------
        ClusterError
            If the scheduler is lost.
        """
        try:
            found: dict[str, Any] = self._client.run(function, *arguments, on_error="ignore")
        except OSError as error:
            raise ClusterError(f"the scheduler was lost: {error}") from error
        return found

    def update(self, on_described: Callable[[str, Future], None]) -> list[Worker]:
        """Compare with the scheduler's list: describe new workers, and forget those that are gone.

        Parameters
        ----------
        on_described : callable
            Called in another thread, with the address and the future of a new worker's description.

        Returns
        -------
        list of Worker
            The forgotten ones that took part.

        Raises
        ------
        ClusterError
            If the scheduler is lost.
        """
        addresses = set(self._connected())
        for address in addresses - self.workers.keys() - self._pending - self.left_out.keys():
            self._describe(address, on_described)
        self._pending &= addresses
        self.left_out = {each: why for each, why in self.left_out.items() if each in addresses}
        return [self.workers.pop(address) for address in self.workers.keys() - addresses]

    def take_in(self, address: str, future: Future) -> Worker | None:
        """Return a worker that has been described; None if it is lost, or left out."""
        if address not in self._pending:
            return None  # it was lost meanwhile
        self._pending.remove(address)
        if future.status == "error":
            self.left_out[address] = reason_of(future)
            return None
        try:
            description: Description = future.result(timeout=ANSWER_SECONDS)
        except Exception:
            return None  # it died after its description; if it is there again, it is described anew
        return self._add(address, description)

    def recall(self) -> dict[Worker, WorkerStatus]:
        """Return the workers that an earlier client has described, and their memory of the run."""
        found: dict[str, WorkerStatus | None]
        found = self.ask(cluster_worker.status, self._run.id, self._run.setup)
        recalled = {}
        for address, status in found.items():
            if status is not None and (worker := self._add(address, status.description)):
                recalled[worker] = status
        return recalled

    def leave_out(self, worker: Worker, reason: str) -> None:
        """Let a worker no longer take part."""
        self.workers.pop(worker.name, None)
        self.left_out[worker.name] = reason

    def forget(self, worker: Worker) -> None:
        """Let a worker be described anew, if it is still there."""
        self.workers.pop(worker.name, None)

    def _connected(self) -> dict[str, Any]:
        """Return the scheduler's facts of its workers, by address."""
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        # Without a scheduler it was the last list that the client had.
        self.check_scheduler()
        return found

    def _describe(self, address: str, on_described: Callable[[str, Future], None]) -> None:
        self._pending.add(address)
        future = self._client.submit(
            cluster_worker.describe,
            self._run.id,
            self._run.setup,
            workers=[address],
            pure=False,
            key=f"describe-{address}-{secrets.token_hex(6)}",
        )
        future.add_done_callback(lambda done: on_described(address, done))

    def _add(self, address: str, description: Description) -> Worker | None:
        """Return the worker of a description; None if it is left out."""
        reason = self._unfit(description)
        if reason is not None:
            self.left_out[address] = reason
            return None
        mark = description.fingerprint
        self.descriptions.setdefault(mark, description)
        self.workers[address] = Worker(address, description.host, mark)
        return self.workers[address]

    def _unfit(self, description: Description) -> str | None:
        """Return why machines do not take part; None if they do."""
        if description.sources != sources_digest():
            return "its FormatBench differs from this one; install the same version everywhere"
        wanted = self._run.machines
        if wanted and not description.fingerprint.startswith(wanted):
            return f"its machine, {description.fingerprint}, is not among --machines"
        return None


def reason_of(future: Future) -> str:
    """Return the error of a failed task in one line."""
    error = future.exception()
    text = str(error) if isinstance(error, FormatBenchError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:REASON_LENGTH]
