"""Row of the studies of scale: a measured step."""

from __future__ import annotations

from dataclasses import Field, dataclass, replace
from typing import Any

from format_bench.parallel.trials import LOCAL, SAVE, STEPS, metric_of
from format_bench.results.display.text import size_of, size_text
from format_bench.results.records import Record
from format_bench.results.study_rows import StudyForm

ALONE = "alone"
"""Engine of the adapter alone: one process that writes and reads one file as a stream."""

LIMITED = "under a limit"
"""Engine of the adapter alone in a process with limited memory."""

TABLES, ARRAYS = "tables", "arrays"


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


# Ends of the metrics of a step on workers, which the suite `scale` has too.
_ON_WORKERS = {"seconds": "time", "cpu_seconds": "CPU time", "peak_bytes": "memory"}

# Ends of the metrics of a step in a process of its own, as of any save or read.
_ALONE = _ON_WORKERS | {"peak_bytes": "peak memory"}

# Metrics of the whole job, whose query is the step.
_OF_JOB = {
    "wall_seconds": "job time",
    "client_seconds": "job client time",
    "task_seconds": "job task time",
    "frame_bytes": "size in memory",
}

_BY_METRIC = {
    name: (value, step)
    for step in STEPS
    for names in (
        {value: metric_of(step, end) for value, end in _ON_WORKERS.items()},
        {value: f"{step} {end}" for value, end in _ALONE.items()},
    )
    for value, name in names.items()
} | {"size": ("size_bytes", SAVE)}


class _ScaleForm(StudyForm[ScaleRun]):
    """Form of steps, whose metrics have the step in their names."""

    def metric_of(self, row: ScaleRun, name: str) -> tuple[str, str | None] | None:
        """Return the metric of a value, and for a job its step as the query."""
        if name in _OF_JOB:
            return (_OF_JOB[name], row.step) if getattr(row, name) and not row.status else None
        if name == "size_bytes":
            return ("size", "") if row.step == SAVE else None
        if row.engine in {ALONE, LIMITED}:
            return f"{row.step} {_ALONE[name]}", ""
        return metric_of(row.step, _ON_WORKERS[name]), ""

    def value_of(self, record: Record) -> tuple[str, dict[str, Any]] | None:
        """Return the field and the step of a record's value; None of the suite's own records."""
        if "parallel engine" not in record.conditions:
            return None
        job = {metric: name for name, metric in _OF_JOB.items()}
        if record.metric in job:
            return job[record.metric], {"step": record.query}
        found = _BY_METRIC.get(record.metric)
        return (found[0], {"step": found[1]}) if found else None

    def _subject(self, row: ScaleRun) -> tuple[dict[str, Any], dict[str, str]]:
        own, conditions = super()._subject(row)
        conditions["workers"] = f"{row.workers}x{conditions.pop('partitions')}"
        if row.limit_bytes:
            conditions["memory limit"] = size_text(row.limit_bytes)
        return own, conditions

    def _subject_fields(self) -> list[Field[Any]]:
        return [each for each in super()._subject_fields() if each.name not in {"step", "limit_bytes"}]

    def _facts(self, record: Record) -> dict[str, Any]:
        workers, partitions = record.conditions["workers"].split("x")
        split = {**record.conditions, "workers": workers, "partitions": partitions}
        limit_bytes = size_of(record.conditions.get("memory limit", "0")) or 0
        return {**super()._facts(replace(record, conditions=split)), "limit_bytes": limit_bytes}


FORM = _ScaleForm(
    suite="scale",
    of=ScaleRun,
    values={**_ON_WORKERS, "size_bytes": "size", **_OF_JOB},
    named={"engine": "parallel engine"},
    reason="sentence",
    earlier="scale.jsonl",
)
