"""Trial of a format on workers: a table is saved, read, read by two columns, and counted; all verified.

An array is saved and read.

Run as a program, the module does trials on local Dask workers in a process of its own, whose environment
has the credentials of an object store, and which ends with all its workers. It reads requests from its
standard input, one JSON object a line, and answers each by a line, a list of results.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import array_stores
import data_formats
from adapter_core import ArrayStore, DataFormat, PartitionedTable, RemoteFile
from adapter_core.errors import ClusterError, FormatBenchError, ParallelError, UnknownNameError
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
from format_bench.parallel.engine import ParallelEngine, opened
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
from format_bench.results.status import WRONG, CellStatus, status_of
from format_bench.verification.digests import TableDigest, differences

if TYPE_CHECKING:
    import pandas as pd


SAVE, READ, PART, COUNT = "save", "read", "two columns", "count"

STEPS = (SAVE, READ, PART, COUNT)
"""Steps of a trial: of `PART`, the columns are the first of numbers, and the first of text if any."""

LOCAL, OBJECT_STORE = "local", "object store"

MEDIA = (LOCAL, OBJECT_STORE)
"""Media of a table: a file system that all workers see, or a server of S3."""

VERIFIED = "digests equal"
"""Sentence of a read whose rows are those saved."""

# One of numbers and one of others, where a table has both: formats store them differently.
COLUMNS_READ = 2


def metric_of(step: str, what: str) -> str:
    """Return the metric of a step, e.g. "parallel part CPU time"; `what` is the end of its name."""
    return f"parallel {'part' if step == PART else step} {what}"


@dataclass(frozen=True)
class StepFacts:
    """Result of one step, with values that JSON supports."""

    step: str
    seconds: float = 0.0
    """Time of the step alone, on the worker that spent most on it, and of the client's share."""
    cpu_seconds: float = 0.0
    """CPU time of the step on all workers."""
    peak_bytes: int = 0
    """Peak of the resident memory of the largest worker."""
    status: CellStatus = CellStatus.VALUE
    sentence: str = ""
    """Verdict of the verification, or the reason of the status."""
    wall_seconds: float = 0.0
    """Time of the client from the first task to the last, making and verifying the data included."""
    client_seconds: float = 0.0
    task_seconds: tuple[float, ...] = ()
    """Wall time of each task on its worker, all stages together."""
    size_bytes: int = 0
    """Bytes of the saved data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", CellStatus(self.status))  # JSON has its text

    @classmethod
    def of(cls, step: str, job: TableJob | ArrayJob, sentence: str = "", size_bytes: int = 0) -> Self:
        """Return the facts of a job."""
        return cls(
            step,
            job.seconds,
            job.cpu_seconds,
            job.peak_bytes,
            sentence=sentence,
            wall_seconds=job.wall_seconds,
            client_seconds=job.client_seconds,
            task_seconds=tuple(sum(each.seconds for each in report.stages) for report in job.reports),
            size_bytes=size_bytes,
        )

    @classmethod
    def failed(cls, step: str, error: FormatBenchError) -> Self:
        """Return the reason for a step without a value."""
        return cls(step, status=status_of(error), sentence=str(error))

    @classmethod
    def verified(
        cls, step: str, job: TableJob | ArrayJob, wrong: Sequence[str], verdict: str = VERIFIED
    ) -> Self:
        """Return the facts of a job, or, if there are any, the differences that it found."""
        if wrong:
            return cls(step, status=CellStatus.FAILED, sentence=WRONG + "; ".join(wrong[:3]))
        return cls.of(step, job, verdict)


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
    engine: ParallelEngine, label: str, plan: Plan | ArrayPlan, place: Path | RemoteFile
) -> Iterator[StepFacts]:
    """Do the steps of a trial, and yield the result of each; the data are removed at the end.

    After a save without a value, nothing follows. Arrays are saved and read.

    Parameters
    ----------
    engine : ParallelEngine
        The workers.
    label : str
        The format, or the store.
    plan : Plan or ArrayPlan
        The table, or the array.
    place : Path or RemoteFile
        Folder of the table, or path of the array, where nothing may be.

    Raises
    ------
    ClusterError
        If the engine is lost.
    """
    try:
        found: _Table | _Array
        if isinstance(plan, ArrayPlan):
            found = _Array(engine, array_stores.get(label), plan, cast("Path", place))
        else:
            found = _Table(engine, data_formats.get(label), plan, place)
        saved = found.save()
    except ClusterError:
        raise  # no result of the format
    except FormatBenchError as error:
        yield StepFacts.failed(SAVE, error)
        return
    try:
        yield saved
        for step in found.reads:
            try:
                yield found.read(step)
            except ClusterError:
                raise
            except FormatBenchError as error:
                yield StepFacts.failed(step, error)
    finally:
        with suppress(OSError):
            found.remove()


class _Table:
    """A table on workers: whole and partial reads, and counts of its rows."""

    reads = (READ, PART, COUNT)

    def __init__(
        self, engine: ParallelEngine, adapter: DataFormat, plan: Plan, place: Path | RemoteFile
    ) -> None:
        self._engine, self._adapter, self._plan, self._place = engine, adapter, plan, place

    def save(self) -> StepFacts:
        job, pieces = save_parallel(self._engine, self._adapter, self._plan, self._place)
        self._saved = job.digest
        # Times of another server are no result.
        with as_one_error("the list of the objects"):
            if isinstance(self._place, RemoteFile) and not self._table().folder.sizes():
                raise ParallelError(f"{NO_REQUEST} {self._place.origin}")
        return StepFacts.of(SAVE, job, size_bytes=sum(piece.size_bytes for piece in pieces))

    def read(self, step: str) -> StepFacts:
        if step == COUNT:
            job = count_parallel(self._engine, self._adapter, self._place)
            is_equal = job.rows == self._saved.rows
            wrong = [] if is_equal else [f"{job.rows:,} rows instead of {self._saved.rows:,}"]
            return StepFacts.verified(step, job, wrong, "")
        columns = two_columns(self._plan.sample()) if step == PART else None
        job = read_parallel(self._engine, self._adapter, self._place, columns)
        return StepFacts.verified(step, job, table_differences(self._adapter, self._saved, job, columns))

    def remove(self) -> None:
        self._table().remove()

    def _table(self) -> PartitionedTable:
        return table_at(self._place, self._adapter)


class _Array:
    """An array on workers."""

    reads = (READ,)

    def __init__(self, engine: ParallelEngine, store: ArrayStore, plan: ArrayPlan, path: Path) -> None:
        self._engine, self._store, self._plan, self._path = engine, store, plan, path

    def save(self) -> StepFacts:
        self._saved = save_array(self._engine, self._store, self._plan, self._path)
        return StepFacts.of(SAVE, self._saved, size_bytes=self._store.size_bytes(self._path))

    def read(self, step: str) -> StepFacts:
        job = read_array(self._engine, self._store, self._path, self._plan.partitions)
        wrong = array_differences(self._saved, job) or region_differences(job)
        return StepFacts.verified(step, job, wrong)

    def remove(self) -> None:
        self._store.remove(self._path)


def table_differences(
    adapter: DataFormat, saved: TableDigest, job: TableJob, columns: Sequence[str] | None = None
) -> Sequence[str]:
    """Return the differences of a read from the saved data: of values in any order, then of parts."""
    wanted = list(columns or saved.columns)
    return differences(saved, job.digest, *adapter.kept, wanted) or part_differences(job)


def two_columns(df: pd.DataFrame) -> list[str]:
    """Return the names of a column of numbers and of another one, of text if there is one."""
    numbers = [name for name in df.columns if df[name].dtype.kind in "iuf"]
    others = [name for name in df.columns if df[name].dtype.kind not in "iufb"]
    return (numbers[:1] + others[:1] + numbers[1:] + others[1:])[:COLUMNS_READ]


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
            return list(trial(engine, asked["label"], Plan(**asked["plan"]), place))
    except FormatBenchError as error:
        return [StepFacts.failed(SAVE, error)]


def main() -> None:
    """Answer requests until the standard input ends."""
    answer_commands(lambda asked: [asdict(each) for each in _answer(asked)])


if __name__ == "__main__":
    main()
