"""Measurement of the step `scale`: tables on several workers, in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core import RemoteFile, UnavailableError
from adapter_core.errors import LinkError, ObjectStoreError, WrongValuesError
from format_bench.families.operations import Measured
from format_bench.instruments import threads
from format_bench.network.object_server import ObjectServer
from format_bench.network.processes import CommandedProcess
from format_bench.parallel.engine import engine_class
from format_bench.parallel.tables import Plan
from format_bench.parallel.trials import OBJECT_STORE, Spread, StepFacts, metric_of, request
from format_bench.results.status import WRONG, CellStatus

PROGRAM = "format_bench.parallel.trials"

LIMIT_SECONDS = 1800.0
"""Time after which the workers of a cell are ended; the runner's, or asv's, is shorter."""

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
