"""Trials of adapters at servers: time, requests and bytes of saving and reading."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import array_stores
import data_formats
from adapter_core import ArrayStore, DataFormat, RemoteFile
from adapter_core.errors import LinkError, UnavailableError
from format_bench.network.client import ARRAY, PART, READ, SAVE, TABLE, Client, Outcome
from format_bench.network.places import S3, Place, Traffic
from format_bench.results.status import Reason, status_of

STEPS = (SAVE, READ, PART)

# Round-trip times in milliseconds: of a server beside the client, and of one in the same country.
ROUND_TRIPS_MS = (0.0, 20.0)

# Time after which a step counts as timed out. At 20 ms enough for 6,000 requests one after the other.
# Chosen, not measured.
LIMIT_SECONDS = 120.0

BYTES_PER_MBIT = 125_000

_GIGA = 1000
_SETTING = re.compile(r"\s*([\d.]+)\s*ms(?:\s*[,/]?\s*([\d.]+)\s*([MG])bit(?:/s)?)?\s*")

WRONG = "other values than in the local file"


class Setting(NamedTuple):
    """Round-trip time and bandwidth of a link; its text is a value of the axis `link`."""

    round_trip_ms: float
    mbit: float = 0.0
    """Bandwidth in 10**6 bit/s; 0 if not limited."""

    def __str__(self) -> str:
        """Return the text, e.g. "20 ms, 100 Mbit/s"."""
        is_giga = self.mbit >= _GIGA and not self.mbit % _GIGA
        speed = f"{self.mbit / _GIGA:g} Gbit/s" if is_giga else f"{self.mbit:g} Mbit/s"
        return f"{self.round_trip_ms:g} ms" + (f", {speed}" if self.mbit else "")

    @classmethod
    def of(cls, text: str) -> Setting | None:
        """Return the setting of a text, e.g. "20ms/1Gbit" or as `str` makes it; None if it is none."""
        found = _SETTING.fullmatch(text)
        if not found:
            return None
        try:
            mbit = float(found[2] or 0) * (_GIGA if found[3] == "G" else 1)
            return cls(float(found[1]), mbit)
        except ValueError:  # e.g. two points
            return None


@dataclass(frozen=True)
class StepCost:
    """Cost of a step at a round-trip time and a bandwidth."""

    family: str
    label: str
    step: str
    round_trip_ms: float
    seconds: float = 0.0
    """Wall time; the shortest of the repeats."""
    cpu_seconds: float = 0.0
    """CPU time of the client."""
    traffic: Traffic | None = None
    """None if no proxy was between, so that requests and bytes are unknown."""
    mbit: float = 0.0
    """Bandwidth in 10**6 bit/s; 0 if not limited."""
    repeats: int = 1
    error: str = ""
    """Reason for a step without a result, a `Reason`; empty if it has one."""


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
class Trial:
    """An adapter and its data, to be saved and read at a place.

    Parameters
    ----------
    family : str
        `TABLE` or `ARRAY`.
    label : str
        Label of the adapter.
    source : str
        The data: a data set and its size, e.g. ``core:20000``, in rows or chunks along the first axis,
        or the absolute path of a file that the adapter has saved.
    scheme : str
        One of the adapter's protocols.
    served : str
        Name of the file, if it is at the place already; else each save makes another one.
    columns : tuple of str
        Columns of `PART`; by default the first two of a table.
    """

    family: str
    label: str
    source: str
    scheme: str = S3
    served: str = ""
    columns: tuple[str, ...] = ()

    def client(self, environment: Mapping[str, str], prefix: Sequence[str] = ()) -> Client:
        """Return a client with environment variables besides this process' own."""
        return Client(
            *(self.family, self.label, self.source),
            columns=self.columns,
            environment=environment,
            prefix=prefix,
        )

    def costs(  # noqa: PLR0913 (a grid of settings)
        self,
        place: Place,
        round_trips_ms: Sequence[float] = ROUND_TRIPS_MS,
        repeats: int = 1,
        *,
        mbits: Sequence[float] = (0.0,),
        steps: Sequence[str] = STEPS,
        long_seconds: float = math.inf,
    ) -> Iterator[StepCost]:
        """Do steps at each bandwidth and round-trip time, after steps that do not count.

        Values are compared with a local file's. A client that does not answer ends the trial, and is the
        error of all steps that were left.

        Parameters
        ----------
        place : Place
            Where to save and read.
        round_trips_ms : sequence of float
            Round-trip times in milliseconds; without a proxy, 0 alone is possible.
        repeats : int
            Times that each step is done; the shortest counts.
        mbits : sequence of float
            Bandwidths in 10**6 bit/s; 0 is not limited.
        steps : sequence of str
            Some of `STEPS`.
        long_seconds : float
            Time of a step from which it is not repeated.
        """
        left = list(product(mbits, round_trips_ms, steps))
        with self.client(place.environment, place.client_prefix) as client:
            try:
                expected = client.expected()
                place.set()
                for step in steps:  # imports and first connections
                    self._cost(step, "first", place, client, expected)
                for mbit, ms in [(mbit, ms) for mbit in mbits for ms in round_trips_ms]:
                    place.set(ms / 1000, mbit * BYTES_PER_MBIT)
                    for step in steps:
                        found: list[StepCost] = []
                        while len(found) < repeats:
                            key = f"{ms:g}-{len(found)}"
                            found.append(self._cost(step, key, place, client, expected))
                            if found[-1].seconds > long_seconds:
                                break
                        least = min(found, key=lambda each: (each.error != "", each.seconds))
                        left.remove((mbit, ms, step))
                        yield replace(least, round_trip_ms=ms, mbit=mbit, repeats=len(found))
            except (LinkError, UnavailableError) as error:
                reason = Reason(str(error), status_of(error))
                for mbit, ms, step in left:
                    yield StepCost(self.family, self.label, step, ms, mbit=mbit, error=reason)
            finally:
                place.set()

    def _cost(
        self, step: str, name: str, place: Place, client: Client, expected: Mapping[str, str]
    ) -> StepCost:
        def done(file: RemoteFile) -> Outcome:
            return client.run(step, file, LIMIT_SECONDS)

        key = self.served or f"{self.family}/{self.label}/{name}"
        outcome, traffic = place.reach(self.scheme, key, done)
        is_wrong = not outcome.error and outcome.digest != expected.get(step, "")
        return StepCost(
            self.family,
            self.label,
            step,
            0.0,
            outcome.seconds,
            outcome.cpu_seconds,
            traffic,
            error=WRONG if is_wrong else outcome.reason,
        )
