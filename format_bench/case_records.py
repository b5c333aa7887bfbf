"""What a step of a case has found, as records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING

from format_bench.cases import SUITE, Case, Measured, Step
from format_bench.intervals import median_interval
from format_bench.journal import Status
from format_bench.records import METRICS, Record, engine_of

if TYPE_CHECKING:
    from format_bench.isolation import Outcome

Key = tuple[object, ...]

_CACHED = {"read time", "read CPU time", "read memory", "read amplification"}
"""The metrics that the state of the page cache bears on."""


def key(record: Record) -> Key:
    """Return what tells the cell of a record from all others."""
    what = (record.suite, record.format, record.dataset, record.rows, record.codec, record.level)
    return (*what, record.cache, record.threads, record.metric)


def keys(case: Case, step: Step) -> set[Key]:
    """Return the keys of all cells of a step."""
    what = (SUITE, case.format, case.dataset, case.rows, case.codec, case.level)
    return {(*what, _cache(step, metric), case.threads, metric) for metric in step.metrics}


def records_of(case: Case, columns: int, step: Step, outcome: Outcome, run_id: str) -> Iterator[Record]:
    """Yield a record for each metric of a step: its value, or why there is none."""
    found: dict[str, Measured] = {} if outcome.status else {each.metric: each for each in outcome.value}
    for metric in step.metrics:
        measured = found.get(metric)
        repeats = measured.repeats if measured else []
        interval = median_interval(repeats) if len(repeats) > 1 else None
        yield Record(
            suite=SUITE,
            format=case.format,
            engine=engine_of(case.format),
            dataset=case.dataset,
            rows=case.rows,
            columns=columns,
            codec=case.codec,
            level=case.level,
            cache=_cache(step, metric),
            threads=case.threads,
            metric=metric,
            unit=METRICS[metric],
            value=statistics.median(repeats) if measured else None,
            repeats=repeats,
            interval=[interval.low, interval.high] if interval else None,
            status=outcome.status or Status.VALUE,
            sentence=measured.sentence if measured else outcome.sentence,
            run_id=run_id,
        )


def _cache(step: Step, metric: str) -> str | None:
    return step.cache if metric in _CACHED else None
