"""Measurement of the step `remote`: saves and reads on an object server, in processes of its own."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import LinkError, ObjectStoreError
from format_bench.families.operations import Measured
from format_bench.network import object_server as server
from format_bench.network.places import Traffic, own_place
from format_bench.network.trials import (
    ROUND_TRIPS_MS,
    StepCost,
    Trial,
    adapter_of,
    remote_labels,
)
from format_bench.results.status import CellStatus

_PLACES = dict(zip(ROUND_TRIPS_MS, ("remote", "distant"), strict=True))
"""First word of the metrics of times by round-trip time."""


def measure_remote(family: str, label: str, file: Path, metrics: tuple[str, ...]) -> list[Measured]:
    """Save the data of a local file in an object store, and read them, without and with a round trip.

    Requests and bytes are those without one.

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
    """
    if label not in remote_labels(family):
        why = f"{label} has no writer to object stores: {adapter_of(family, label).local_only}"
        return _empty(metrics, CellStatus.UNSUPPORTED, why)
    found = server.availability()
    if not found:
        why = f"{found.reason}; try: {found.install_hint}"
        return _empty(metrics, CellStatus.UNAVAILABLE, why)
    trial = Trial(family, label, str(file.resolve()))
    try:
        with own_place() as place:
            costs = list(trial.costs(place))
    except (LinkError, ObjectStoreError) as error:
        return _empty(metrics, CellStatus.FAILED, str(error))
    values = {each.metric: each for cost in costs for each in _measured(cost)}
    failure = next((each.error for each in costs if each.error), "not measured")
    return [
        values.get(name) or Measured(name, [], failure, status=CellStatus.FAILED) for name in metrics
    ]


def _empty(metrics: tuple[str, ...], status: CellStatus, why: str) -> list[Measured]:
    return [Measured(name, [], why, status=status) for name in metrics]


def _measured(cost: StepCost) -> list[Measured]:
    values = {f"{_PLACES[cost.round_trip_ms]} {cost.step} time": cost.seconds}
    if not cost.round_trip_ms:
        counted = cost.traffic or Traffic()
        values[f"remote {cost.step} requests"] = counted.reads + counted.writes
        values[f"remote {cost.step} bytes"] = counted.up_bytes + counted.down_bytes
    if cost.error:
        status = CellStatus.UNSUPPORTED if cost.is_unsupported else CellStatus.FAILED
        return _empty(tuple(values), status, cost.error)
    return [Measured(name, [value]) for name, value in values.items()]
