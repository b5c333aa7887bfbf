"""Trial of a format on workers: a table is saved, read, read by two columns, and counted; all verified.

An array is saved and read.

Run as a program, the module does trials on local Dask workers in a process of its own, whose environment
has the credentials of an object store, and which ends with all its workers. It reads requests from its
standard input, one JSON object a line, and answers each by a line, a list of results.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import array_stores
import data_formats
from adapter_core import RemoteFile
from adapter_core.errors import FormatBenchError, ParallelError, UnknownNameError
from format_bench.instruments.isolation import status_of
from format_bench.network.environment import NO_REQUEST
from format_bench.network.processes import answer_commands
from format_bench.parallel.arrays import (
    ArrayJob,
    ArrayPlan,
    array_differences,
    read_array,
    region_differences,
    save_array,
)
from format_bench.parallel.engine import opened
from format_bench.parallel.jobs import as_one_error
from format_bench.parallel.tables import (
    Plan,
    TableJob,
    count_parallel,
    part_differences,
    read_parallel,
    save_parallel,
    table_at,
)
from format_bench.results.status import WRONG, CellStatus
from format_bench.verification.digests import TableDigest, differences

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.parallel.engine import ParallelEngine

SAVE, READ, PART, COUNT = "save", "read", "two columns", "count"

STEPS = (SAVE, READ, PART, COUNT)
"""Steps of a trial: of `PART`, the columns are the first of numbers, and the first of text if any."""

LOCAL, OBJECT_STORE = "local", "object store"

MEDIA = (LOCAL, OBJECT_STORE)
"""Media of a table: a file system that all workers see, or a server of S3."""

VERIFIED = "digests equal"
"""Sentence of a read whose rows are those saved."""

COLUMNS_READ = 2


def metric_of(step: str, what: str) -> str:
    """Return the metric of a step, e.g. "parallel part CPU time"; `what` is its end."""
    return f"parallel {'part' if step == PART else step} {what}"


@dataclass(frozen=True)
class StepResult:
    """Result of one step of a trial."""

    step: str
    job: TableJob | ArrayJob | None = None
    """None without a value."""
    status: CellStatus | None = None
    """Reason of a step without a value; None if it has one."""
    sentence: str = ""
    """Verdict of the verification, or the reason of the status."""
    size_bytes: int = 0
    """Size of the table, of a save."""


@dataclass(frozen=True)
class Spread:
    """Number of workers and of partitions, and the medium of a table."""

    workers: int
    partitions: int
    medium: str

    _FORM = re.compile(r"(\d+)x(\d+) (.+)")

    def __str__(self) -> str:
        """Return the text, e.g. "2x4 object store", which is short enough for labels of charts."""
        return f"{self.workers}x{self.partitions} {self.medium}"

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the spread of such a text.

        Raises
        ------
        UnknownNameError
            If it has another form, or names another medium.
        """
        found = cls._FORM.fullmatch(text)
        if not found or found[3] not in MEDIA:
            forms = [str(cls(2, 4, medium)) for medium in MEDIA]
            raise UnknownNameError("spread of a table", text, forms)
        return cls(int(found[1]), int(found[2]), found[3])


def trial(
    engine: ParallelEngine, label: str, plan: Plan, place: Path | RemoteFile
) -> Iterator[StepResult]:
    """Do the steps of a trial, and yield the result of each; the table is removed at the end.

    After a save without a value, nothing follows.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    label : str
        The format.
    plan : Plan
        The table.
    place : Path or RemoteFile
        Folder of the table, where nothing may be.
    """
    try:
        adapter = data_formats.get(label)
    except FormatBenchError as error:
        yield _failed(SAVE, error)
        return
    two = _two_columns(plan.sample())
    calls: dict[str, Callable[[], TableJob]] = {
        READ: lambda: read_parallel(engine, adapter, place),
        PART: lambda: read_parallel(engine, adapter, place, two),
        COUNT: lambda: count_parallel(engine, adapter, place),
    }
    try:
        saved, pieces = save_parallel(engine, adapter, plan, place)
        _check_reached(place, adapter)
    except FormatBenchError as error:
        yield _failed(SAVE, error)
        return
    try:
        yield StepResult(SAVE, saved, size_bytes=sum(piece.size_bytes for piece in pieces))
        for step, call in calls.items():
            try:
                wanted = two if step == PART else list(saved.digest.columns)
                yield _verified(step, call(), saved.digest, wanted, adapter)
            except FormatBenchError as error:
                yield _failed(step, error)
    finally:
        with suppress(OSError):
            table_at(place, adapter).remove()


def array_trial(engine: ParallelEngine, label: str, plan: ArrayPlan, path: Path) -> Iterator[StepResult]:
    """Save an array on workers and read it, and yield the result of each; it is removed at the end.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    label : str
        The store.
    plan : ArrayPlan
        The array.
    path : Path
        Path of the array, where nothing may be.
    """
    try:
        store = array_stores.get(label)
        saved = save_array(engine, store, plan, path)
    except FormatBenchError as error:
        yield _failed(SAVE, error)
        return
    try:
        yield StepResult(SAVE, saved, size_bytes=store.size_bytes(path))
        try:
            read = read_array(engine, store, path, plan.partitions)
        except FormatBenchError as error:
            yield _failed(READ, error)
            return
        wrong = array_differences(saved, read) or region_differences(read)
        yield StepResult(READ, read, sentence=VERIFIED) if not wrong else _wrong(READ, wrong)
    finally:
        with suppress(OSError):
            store.remove(path)


def _wrong(step: str, differences: Sequence[str]) -> StepResult:
    return StepResult(step, status=CellStatus.FAILED, sentence=WRONG + "; ".join(differences[:3]))


def _check_reached(place: Path | RemoteFile, adapter: DataFormat) -> None:
    """Raise ParallelError if a save left no object: times of another server are no result."""
    with as_one_error("the list of the objects"):
        if isinstance(place, RemoteFile) and not table_at(place, adapter).folder.sizes():
            raise ParallelError(f"{NO_REQUEST} {place.origin}")


def _failed(step: str, error: FormatBenchError) -> StepResult:
    return StepResult(step, status=status_of(error), sentence=str(error))


def _verified(
    step: str, job: TableJob, saved: TableDigest, wanted: list[str], adapter: DataFormat
) -> StepResult:
    wrong: Sequence[str]
    if step == COUNT:
        is_equal = job.rows == saved.rows
        wrong = [] if is_equal else [f"{job.rows:,} rows instead of {saved.rows:,}"]
    else:
        wrong = differences(saved, job.digest, *adapter.kept, wanted) or part_differences(job)
    if wrong:
        return _wrong(step, wrong)
    return StepResult(step, job, sentence="" if step == COUNT else VERIFIED)


def _two_columns(df: pd.DataFrame) -> list[str]:
    """Return the names of a column of numbers and of another one, of text if there is one."""
    numbers = [name for name in df.columns if df[name].dtype.kind in "iuf"]
    others = [name for name in df.columns if df[name].dtype.kind not in "iufb"]
    return (numbers[:1] + others[:1] + numbers[1:] + others[1:])[:COLUMNS_READ]


@dataclass(frozen=True)
class StepFacts:
    """Result of one step, as the program prints it."""

    step: str
    seconds: float = 0.0
    """Time of the step alone, on the worker that spent most on it, and of the client's share."""
    cpu_seconds: float = 0.0
    """CPU time of the step on all workers."""
    peak_bytes: int = 0
    """Peak of the resident memory of the largest worker."""
    status: CellStatus = CellStatus.VALUE
    sentence: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", CellStatus(self.status))  # JSON has its text


def facts_of(result: StepResult) -> StepFacts:
    """Return the facts of a result."""
    job = result.job
    if job is None:
        status = result.status or CellStatus.FAILED
        return StepFacts(result.step, status=status, sentence=result.sentence)
    numbers = job.seconds, job.cpu_seconds, job.peak_bytes
    return StepFacts(result.step, *numbers, sentence=result.sentence)


def request(
    label: str, plan: Plan, workers: int, place: Path | RemoteFile, cpus: Collection[int]
) -> dict[str, Any]:
    """Return a request to the program: a trial on so many workers, on some CPUs."""
    address = asdict(place) if isinstance(place, RemoteFile) else str(place)
    return {
        "label": label,
        "plan": asdict(plan),
        "workers": workers,
        "place": address,
        "cpus": sorted(cpus),
    }


def _answer(asked: dict[str, Any]) -> list[StepFacts]:
    # The process that asks may be pinned to one CPU.
    os.sched_setaffinity(0, asked["cpus"])
    address = asked["place"]
    place = RemoteFile(**address) if isinstance(address, dict) else Path(address)
    try:
        with opened("dask", f"local:{asked['workers']}") as engine:
            found = trial(engine, asked["label"], Plan(**asked["plan"]), place)
            return [facts_of(each) for each in found]
    except FormatBenchError as error:
        return [facts_of(_failed(SAVE, error))]


def main() -> None:
    """Answer requests until the standard input ends."""
    answer_commands(lambda asked: [asdict(each) for each in _answer(asked)])


if __name__ == "__main__":
    main()
