"""Results of the studies of scale: a line for each measured step, and a record of each value."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.parallel.trials import LOCAL, SAVE, Spread, metric_of
from format_bench.results import records
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus

FILE = "scale.jsonl"
"""Name of the file with all facts of the steps, in the folder of results."""

RECORDS = "results.jsonl"
"""Name of the file with the records."""

SUITE = "scale"
"""Suite of the records, whose tracks have no engine: it measures Dask."""

ALONE = "alone"
"""Engine of the adapter alone: one process that writes and reads one file as a stream."""

LIMITED = "under a limit"
"""Engine of the adapter alone in a process with limited memory."""

TABLES, ARRAYS = "tables", "arrays"

_FIELDS = {"time": "seconds", "CPU time": "cpu_seconds", "memory": "peak_bytes"}
"""Fields of the values of each step's metrics on workers."""

_FIELDS_ALONE = {"time": "seconds", "CPU time": "cpu_seconds", "peak memory": "peak_bytes"}
"""Result fields of a single-process run."""


@dataclass(frozen=True)
class ScaleRun:
    """One step of one format on some workers."""

    engine: str
    workers: int
    format: str
    dataset: str
    rows: int
    columns: int
    partitions: int
    step: str
    """"save", "read", "two columns" or "count"."""
    seconds: float = 0.0
    """Time of the step alone, on the worker that spent most on it, and of the client's share."""
    wall_seconds: float = 0.0
    """Time of the client from the first task to the last, making and verifying the rows included."""
    client_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """CPU time of the step on all workers."""
    peak_bytes: int = 0
    """Peak of the resident memory of the largest worker."""
    size_bytes: int = 0
    task_seconds: tuple[float, ...] = ()
    """Wall time of each task on its worker, all stages together."""
    status: str = ""
    """"unsupported", "failed" ...; empty if the step was measured."""
    sentence: str = ""
    """Verdict of the verification, or the reason of the status."""
    limit_bytes: int = 0
    """Limit of the memory of the process, of a step under a limit."""
    frame_bytes: int = 0
    """Size of the table as a DataFrame, of a step under a limit."""
    memory: str = ""
    """Limit of the memory of a worker, and who enforces it; empty if there is none."""
    family: str = TABLES
    """Family of the data set. Arrays have chunks as rows, and dimensions as columns."""
    medium: str = LOCAL
    """One of `format_bench.parallel.trials.MEDIA`."""

    @property
    def track(self) -> str:
        """The axes that records have no field for."""
        spread = Spread(self.workers, self.partitions, self.medium)
        return ", ".join(filter(None, [self.engine, str(spread), self.memory]))


def append(out: Path, run: ScaleRun, run_id: str) -> None:
    """Add a step to both files of a folder, which is made if missing."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")
    for record in _records(run, run_id):
        records.append(out / RECORDS, record)


def new_run_id() -> str:
    """Return an identifier for the records of a session."""
    return uuid.uuid4().hex


def read(folder: Path) -> list[ScaleRun]:
    """Return all steps of a folder, in the order measured.

    Raises
    ------
    InvalidResultsError
        If the file is missing, or a line is not a step.
    """
    try:
        lines = (folder / FILE).read_bytes().splitlines()
    except FileNotFoundError as error:
        raise InvalidResultsError(f"{folder / FILE} does not exist") from error
    return [_parsed(line, folder / FILE, number) for number, line in enumerate(lines, 1)]


def _parsed(line: bytes, path: Path, number: int) -> ScaleRun:
    import msgspec

    with content_of(f"{path}, line {number}:", InvalidResultsError, "no result of a study of scale"):
        return msgspec.json.decode(line, type=ScaleRun)


def _records(run: ScaleRun, run_id: str) -> Iterator[Record]:
    is_alone = run.engine in {ALONE, LIMITED}
    for what, field in (_FIELDS_ALONE if is_alone else _FIELDS).items():
        metric = f"{run.step} {what}" if is_alone else metric_of(run.step, what)
        yield _record(run, run_id, metric, None if run.status else float(getattr(run, field)))
    if run.step == SAVE:
        yield _record(run, run_id, "size", None if run.status else float(run.size_bytes))


def _record(run: ScaleRun, run_id: str, metric: str, value: float | None) -> Record:
    return Record(
        suite=SUITE,
        format=run.format,
        engine=records.engine_of(run.format),
        dataset=run.dataset,
        rows=run.rows,
        columns=run.columns,
        codec=None,
        level=None,
        conditions={
            **({"cache": "warm"} if METRICS[metric].cached else {}),
            "threads": "1",
            "track": run.track,
        },
        metric=metric,
        unit=METRICS[metric].unit,
        value=value,
        repeats=[] if value is None else [value],
        interval=None,
        status=CellStatus(run.status) if run.status else CellStatus.VALUE,
        sentence=run.sentence,
        run_id=run_id,
    )
