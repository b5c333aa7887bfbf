"""Measurements of the steps `remote` and `scale`, by processes of their own.

Tables and arrays are saved on an object server and read from it; tables are written and read by several
workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core import RemoteFile, UnavailableError
from adapter_core.errors import LinkError, ObjectStoreError, WrongValuesError
from format_bench.families.operations import Measured
from format_bench.instruments import threads
from format_bench.network import object_server
from format_bench.network.object_server import ObjectServer
from format_bench.network.places import environments_address, own_place, user_place
from format_bench.network.processes import CommandedProcess
from format_bench.network.trials import (
    ROUND_TRIPS_MS,
    Setting,
    StepCost,
    Trial,
    adapter_of,
    remote_labels,
)
from format_bench.parallel.engine import engine_class
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import OBJECT_STORE, Spread, StepFacts, metric_of, request
from format_bench.results.status import WRONG, CellStatus

# First word of the metrics of times by round-trip time.
_PLACES = dict(zip(ROUND_TRIPS_MS, ("remote", "distant"), strict=True))


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
    found = object_server.availability()
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


PROGRAM = "format_bench.parallel.trials"

# Time after which the workers of a cell are ended; the runner's, or asv's, is shorter. As a cell of asv
# at full scale (benchmarks/_suites.py).
LIMIT_SECONDS = 1800.0

_FIELDS = {"time": "seconds", "CPU time": "cpu_seconds", "memory": "peak_bytes"}


def measure_scale(
    label: str, data: tuple[str, int], track: str, folder: Path, metrics: tuple[str, ...]
) -> list[Measured]:
    """Save a table on local Dask workers, read it, read two columns and count its rows; verify them.

    Parameters
    ----------
    label : str
        The table format.
    data : (str, int)
        Name and number of rows of the table, whose rows the workers make.
    track : str
        Numbers of workers and partitions, and the medium, as `Spread` names them.
    folder : Path
        Where local tables are written.
    metrics : tuple of str
        Names of the metrics.

    Raises
    ------
    WrongValuesError
        If other rows were read, or counted, than saved.
    """
    spread = Spread.of(track)
    dataset, rows = data
    if rows < spread.partitions:
        why = f"{rows:,} rows cannot be in {spread.partitions:,} partitions"
        return _empty(metrics, CellStatus.UNSUPPORTED, why)
    plan = Plan(dataset, rows, spread.partitions)
    try:
        engine_class("dask")
        with _place(spread.medium, folder) as (place, environment), _workers(environment) as workers:
            asked = request(label, plan, spread.workers, place, threads.ALLOWED_CPUS)
            found = [StepFacts(**each) for each in workers.ask(LIMIT_SECONDS, **asked)]
    except UnavailableError as error:
        return _empty(metrics, CellStatus.UNAVAILABLE, str(error))
    except (LinkError, ObjectStoreError) as error:
        return _empty(metrics, CellStatus.FAILED, str(error))
    wrong = next((each.sentence for each in found if each.sentence.startswith(WRONG)), "")
    if wrong:
        raise WrongValuesError(wrong)
    values = {each.metric: each for facts in found for each in _measured(facts)}
    # A table that was not saved has the same reason in all steps.
    failed = next((each for each in found if each.status is not CellStatus.VALUE), None)
    return [values.get(name) or _reason(name, failed) for name in metrics]


@contextmanager
def _place(medium: str, folder: Path) -> Iterator[tuple[Path | RemoteFile, dict[str, str]]]:
    """Provide the place of a table, and the environment that workers need for it."""
    # An absolute path, as workers and the server may have other current folders.
    with TemporaryDirectory(dir=folder.resolve(), prefix="scale-") as own, ExitStack() as stack:
        if medium != OBJECT_STORE:
            yield Path(own, "table"), {}
            return
        server = stack.enter_context(ObjectServer(Path(own), keep_alive=False))
        yield server.address(server.port, f"{server.folder}/table"), server.environment


def _workers(environment: dict[str, str]) -> CommandedProcess:
    variables = {**threads.environment("1"), **environment}
    return CommandedProcess(PROGRAM, environment=variables)


def _measured(facts: StepFacts) -> Iterator[Measured]:
    for what, field in _FIELDS.items():
        name = metric_of(facts.step, what)
        if facts.status is CellStatus.VALUE:
            yield Measured(name, [float(getattr(facts, field))], facts.sentence)
        else:
            yield Measured(name, [], facts.sentence, status=facts.status)


def _reason(name: str, failed: StepFacts | None) -> Measured:
    status = failed.status if failed else CellStatus.FAILED
    return Measured(name, [], failed.sentence if failed else "not measured", status=status)


def _empty(metrics: tuple[str, ...], status: CellStatus, why: str) -> list[Measured]:
    return [Measured(name, [], why, status=status) for name in metrics]
