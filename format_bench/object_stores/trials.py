"""Costs of formats on an object store: time, requests and bytes of saving and reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import array_stores
import data_formats
from adapter_core.errors import LinkError
from format_bench.object_stores.client import PART, READ, SAVE, TABLE
from format_bench.object_stores.endpoints import StoreClient
from format_bench.object_stores.proxy import Fault

if TYPE_CHECKING:
    from format_bench.object_stores.endpoints import FaultProxy
    from format_bench.object_stores.proxy import Call
    from format_bench.object_stores.server import ObjectServer

STEPS = (SAVE, READ, PART)

ROUND_TRIPS_MS = (0.0, 20.0)
"""Round-trip times in milliseconds."""

LIMIT_SECONDS = 120.0
"""Time after which a step counts as timed out."""

_SERVER_ERROR = 500

WRONG = "other values than in the local file"


@dataclass(frozen=True)
class StepCost:
    """Cost of a step at a round-trip time."""

    family: str
    label: str
    step: str
    round_trip_ms: float
    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    """CPU time of the client."""
    reads: int = 0
    """Requests by GET and HEAD."""
    writes: int = 0
    """Requests by PUT, POST and DELETE."""
    up_bytes: int = 0
    down_bytes: int = 0
    retries: int = 0
    """Requests that were sent before in the same form, and failed."""
    error: str = ""
    """Reason for a step without a result, as a sentence."""


def remote_labels(family: str) -> list[str]:
    """Return the adapters of a family that write to object stores."""
    if family == TABLE:
        return [name for name in data_formats.names() if data_formats.find(name).save_schemes]
    return [name for name in array_stores.names() if array_stores.find(name).remote_schemes]


@dataclass(frozen=True)
class StoreTrial:
    """An adapter and the data to save.

    Parameters
    ----------
    family : str
        `TABLE` or `ARRAY`.
    label : str
        Label of the adapter.
    source : str
        The data: a data set and its size, e.g. ``core:20000``, in rows or chunks along the first axis,
        or the absolute path of a file that the adapter has saved.
    """

    family: str
    label: str
    source: str

    def client(self, server: ObjectServer, environment: Mapping[str, str] | None = None) -> StoreClient:
        """Return a client of the server; further environment variables replace its own."""
        variables = {**server.environment, **(environment or {})}
        return StoreClient(self.family, self.label, self.source, variables)

    def costs(
        self,
        server: ObjectServer,
        proxy: FaultProxy,
        round_trips_ms: Sequence[float] = ROUND_TRIPS_MS,
        repeats: int = 1,
    ) -> Iterator[StepCost]:
        """Save and read at each round-trip time, after steps that do not count.

        Of several repeats, the shortest counts. Values are compared with those of a local file.

        Parameters
        ----------
        server, proxy
            A server that runs, and its proxy.
        round_trips_ms : sequence of float
            Round-trip times in milliseconds.
        repeats : int
            Times that each step is done.
        """
        with self.client(server) as client:
            try:
                expected = client.expected()
                proxy.set(Fault())
                for step in STEPS:  # imports and first connections
                    client.run(
                        step,
                        server.address(proxy.port, f"{server.folder}/{self.label}/first"),
                        LIMIT_SECONDS,
                    )
                for round_trip_ms in round_trips_ms:
                    for step in STEPS:
                        costs = [
                            self._cost(step, round_trip_ms, turn, server, proxy, client, expected)
                            for turn in range(repeats)
                        ]
                        yield min(costs, key=lambda each: (each.error != "", each.seconds))
            except LinkError as error:
                yield StepCost(self.family, self.label, SAVE, round_trips_ms[0], error=str(error))
            finally:
                proxy.set(Fault())

    def _cost(  # noqa: PLR0913, PLR0917 (a step and the processes)
        self,
        step: str,
        round_trip_ms: float,
        turn: int,
        server: ObjectServer,
        proxy: FaultProxy,
        client: StoreClient,
        expected: dict[str, str],
    ) -> StepCost:
        file = server.address(proxy.port, f"{server.folder}/{self.label}/{round_trip_ms:g}-{turn}")
        proxy.set(Fault(round_trip_seconds=round_trip_ms / 1000))
        proxy.take()
        outcome = client.run(step, file, LIMIT_SECONDS)
        calls = proxy.take()
        is_wrong = not outcome.error and outcome.digest != expected.get(step, "")
        return StepCost(
            self.family,
            self.label,
            step,
            round_trip_ms,
            outcome.seconds,
            outcome.cpu_seconds,
            sum(each.method in {"GET", "HEAD"} for each in calls),
            sum(each.method not in {"GET", "HEAD"} for each in calls),
            sum(each.up_bytes for each in calls),
            sum(each.down_bytes for each in calls),
            retries_of(calls),
            WRONG if is_wrong else outcome.error,
        )


def retries_of(calls: Sequence[Call]) -> int:
    """Return the number of requests that repeat one without an answer, or with a status of 500 on."""
    failed: set[tuple[str, str]] = set()
    retries = 0
    for each in calls:
        request = each.method, each.path
        if request in failed:
            retries += 1
            failed.discard(request)
        if each.status == 0 or each.status >= _SERVER_ERROR:
            failed.add(request)
    return retries
