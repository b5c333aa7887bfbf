"""Results made by hand, for tests of what is made of results."""

from __future__ import annotations

from format_bench.results.load import Results
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import Status


def record(label: str, metric: str, value: float | None, **told) -> Record:
    """Return a record of the table "t" with 1,000 rows, whose repeats are its value, unless told."""
    facts = {
        "suite": "tabular",
        "format": label,
        "engine": "",
        "dataset": "t",
        "rows": 1_000,
        "columns": 8,
        "codec": None,
        "level": None,
        "cache": None,
        "threads": "all",
        "metric": metric,
        "unit": METRICS[metric].unit,
        "value": value,
        "repeats": [] if value is None else [value],
        "interval": None,
        "status": Status.VALUE if value is not None else Status.UNSUPPORTED,
        "sentence": "" if value is not None else f"{label} does not want to",
        "run_id": "made",
    }
    return Record(**{**facts, **told})


def results(values: dict[str, dict[str, float]], *, name="made", floors=None, **told) -> Results:
    """Return results with a record for each format and metric, by names as in "read time"."""
    records = [
        record(label, metric, value, **told)
        for label, found in values.items()
        for metric, value in found.items()
    ]
    return Results(name, records, [], floors)
