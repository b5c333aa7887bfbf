"""Measurement of the step `remote`: saves and reads on an object server, in processes of its own."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import LinkError, ObjectStoreError
from format_bench.families.operations import Measured
from format_bench.network import object_server as server
from format_bench.network.places import environments_address, own_place, user_place
from format_bench.network.trials import (
    ROUND_TRIPS_MS,
    Setting,
    StepCost,
    Trial,
    adapter_of,
    remote_labels,
)
from format_bench.results.status import CellStatus

_PLACES = dict(zip(ROUND_TRIPS_MS, ("remote", "distant"), strict=True))
"""First word of the metrics of times by round-trip time."""


def measure_remote(  # noqa: PLR0913 (a file, and where it goes)
    family: str, label: str, file: Path, metrics: tuple[str, ...], *, link: str = "", bucket: str = ""
) -> list[Measured]:
    """Save the data of a local file in an object store, and read them, without and with a round trip.

    Requests and bytes are those without one. Over a given link, the metrics `remote` are of it, and the
    others are unsupported.

    Parameters
    ----------
    family : str
        Name of the family.
    label : str
        The adapter.
    file : Path
        A file that it has saved.
    metrics : tuple of str
        Names of the metrics.
    link : str
        Text of a `Setting`; empty for both round trips of the metrics.
    bucket : str
        Address of a user's bucket; empty for a server here.
    """
    if label not in remote_labels(family):
        why = f"{label} has no writer to object stores: {adapter_of(family, label).local_only}"
        return _empty(metrics, CellStatus.UNSUPPORTED, why)
    found = server.availability()
    if not bucket and not found:
        why = f"{found.reason}; try: {found.install_hint}"
        return _empty(metrics, CellStatus.UNAVAILABLE, why)
    setting = Setting.of(link)
    trial = Trial(family, label, str(file.resolve()))
    try:
        with user_place(environments_address(bucket)) if bucket else own_place() as place:
            if setting and not place.proxy:
                why = f"requests to {bucket} are encrypted, and cannot be delayed"
                return _empty(metrics, CellStatus.UNSUPPORTED, why)
            times = ROUND_TRIPS_MS if place.proxy else ROUND_TRIPS_MS[:1]
            if setting:
                times = (setting.round_trip_ms,)
            costs = list(trial.costs(place, times, mbits=[setting.mbit if setting else 0.0]))
    except (LinkError, ObjectStoreError) as error:
        return _empty(metrics, CellStatus.FAILED, str(error))
    values = {each.metric: each for cost in costs for each in measured(cost, is_given=bool(setting))}
    failure = next((each.error for each in costs if each.error), "")
    missing = CellStatus.FAILED if failure else CellStatus.UNSUPPORTED
    why = failure or "the server is reached over one link, by the metrics `remote`"
    return [values.get(name) or Measured(name, [], why, status=missing) for name in metrics]


def _empty(metrics: tuple[str, ...], status: CellStatus, why: str) -> list[Measured]:
    return [Measured(name, [], why, status=status) for name in metrics]


def measured(cost: StepCost, *, is_given: bool = True) -> list[Measured]:
    """Return the metrics of a cost: over the given link, or at both round trips."""
    first = "remote" if is_given else _PLACES[cost.round_trip_ms]
    values = {f"{first} {cost.step} time": cost.seconds}
    if first == "remote":
        counted = cost.traffic
        values[f"remote {cost.step} requests"] = counted.reads + counted.writes if counted else 0
        values[f"remote {cost.step} bytes"] = counted.up_bytes + counted.down_bytes if counted else 0
    if cost.error:
        status = getattr(cost.error, "status", CellStatus.FAILED)
        return _empty(tuple(values), status, cost.error)
    if not cost.traffic:
        time, *counts = values
        unknown = "requests are encrypted, and cannot be counted"
        return [Measured(time, [values[time]]), *_empty(tuple(counts), CellStatus.UNSUPPORTED, unknown)]
    return [Measured(name, [value]) for name, value in values.items()]
