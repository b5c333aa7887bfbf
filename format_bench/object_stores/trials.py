"""Costs of formats on an object store: time, requests and bytes of saving and reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import array_stores
import data_formats
from adapter_core import DataFormat
from adapter_core.errors import LinkError
from format_bench.links.environment import NO_REQUEST
from format_bench.object_stores.client import ARRAY, PART, READ, SAVE, TABLE
from format_bench.object_stores.endpoints import StoreClient
from format_bench.object_stores.proxy import Fault

if TYPE_CHECKING:
    from adapter_core import ArrayStore
    from format_bench.object_stores.places import StorePlace
    from format_bench.object_stores.proxy import Call

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
    is_counted: bool = True
    """False if no proxy was between, so that requests and bytes are unknown."""
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
    is_unsupported: bool = False
    """Whether the format has no such step."""


def adapter_of(family: str, label: str) -> DataFormat | ArrayStore:
    """Return the adapter of a label."""
    return data_formats.find(label) if family == TABLE else array_stores.find(label)


def schemes_of(adapter: DataFormat | ArrayStore) -> tuple[str, ...]:
    """Return the protocols by which an adapter writes to object stores."""
    return adapter.save_schemes if isinstance(adapter, DataFormat) else adapter.remote_schemes


def shown(family: str, label: str) -> str:
    """Return a label for tables of both families, e.g. "Lance (array)" beside the table format."""
    return f"{label} (array)" if family == ARRAY and label in data_formats.names() else label


def remote_labels(family: str) -> list[str]:
    """Return the adapters of a family that write to object stores."""
    names = data_formats.names() if family == TABLE else array_stores.names()
    return [name for name in names if schemes_of(adapter_of(family, name))]


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

    def client(self, environment: Mapping[str, str]) -> StoreClient:
        """Return a client with environment variables besides those of this process."""
        return StoreClient(self.family, self.label, self.source, environment)

    def costs(
        self,
        place: StorePlace,
        round_trips_ms: Sequence[float] = ROUND_TRIPS_MS,
        repeats: int = 1,
    ) -> Iterator[StepCost]:
        """Save and read at each round-trip time, after steps that do not count.

        Of several repeats, the shortest counts. Values are compared with a local file's.

        Parameters
        ----------
        place : StorePlace
            Where to save.
        round_trips_ms : sequence of float
            Round-trip times in milliseconds that the proxy adds; without a proxy, 0 alone is possible.
        repeats : int
            Times that each step is done.
        """
        with self.client(place.environment) as client:
            try:
                expected = client.expected()
                for step in STEPS:  # imports and first connections
                    client.run(step, place.address(f"{self.family}/{self.label}/first"), LIMIT_SECONDS)
                for round_trip_ms in round_trips_ms:
                    for step in STEPS:
                        costs = [
                            self._cost(step, round_trip_ms, turn, place, client, expected)
                            for turn in range(repeats)
                        ]
                        yield min(costs, key=lambda each: (each.error != "", each.seconds))
            except LinkError as error:
                yield StepCost(self.family, self.label, SAVE, round_trips_ms[0], error=str(error))
            finally:
                if place.proxy:
                    place.proxy.set(Fault())

    def _cost(  # noqa: PLR0913, PLR0917 (a step and the processes)
        self,
        step: str,
        round_trip_ms: float,
        turn: int,
        place: StorePlace,
        client: StoreClient,
        expected: dict[str, str],
    ) -> StepCost:
        if place.proxy:
            place.proxy.set(Fault(round_trip_seconds=round_trip_ms / 1000))
            place.proxy.take()
        file = place.address(f"{self.family}/{self.label}/{round_trip_ms:g}-{turn}")
        outcome = client.run(step, file, LIMIT_SECONDS)
        calls = place.proxy.take() if place.proxy else []
        is_reached = bool(calls) if place.proxy else step != SAVE or place.has_objects(file)
        error = outcome.error
        if not error and not is_reached:
            error = f"{NO_REQUEST} {file.origin}"
        elif not error and outcome.digest != expected.get(step, ""):
            error = WRONG
        return StepCost(
            self.family,
            self.label,
            step,
            round_trip_ms,
            outcome.seconds,
            outcome.cpu_seconds,
            place.proxy is not None,
            sum(each.method in {"GET", "HEAD"} for each in calls),
            sum(each.method not in {"GET", "HEAD"} for each in calls),
            sum(each.up_bytes for each in calls),
            sum(each.down_bytes for each in calls),
            retries_of(calls),
            error,
            outcome.is_unsupported,
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
