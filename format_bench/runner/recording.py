"""Records of the steps of a case, round by round."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from adapter_core.errors import WrongValuesError
from format_bench.instruments.intervals import median_interval
from format_bench.metadata import environment
from format_bench.results.metrics import METRICS
from format_bench.results.records import Key, Record, engine_of, key
from format_bench.results.status import CellStatus
from format_bench.system.library_set import AXIS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from format_bench.families.cases import Case
    from format_bench.families.operations import Measured
    from format_bench.instruments.isolation import Outcome
    from format_bench.results.suites import Step


def keys(case: Case, step: Step) -> set[Key]:
    """Return the keys of all cells of a step."""
    return {key(each) for each in _empty_records(case, 0, step, "")}


def records_of(case: Case, columns: int, step: Step, outcome: Outcome, run_id: str) -> Iterator[Record]:
    """Yield a record for each metric of a step, and each query: its value, or why there is none."""
    found: dict[tuple[str, str], Measured] = {}
    if not outcome.status:
        found = {(each.metric, each.query): each for each in outcome.value}
    for empty in _empty_records(case, columns, step, run_id):
        measured = found.get((empty.metric, empty.query))
        if measured is None:
            status = outcome.status or CellStatus.FAILED
            yield replace(empty, status=status, sentence=outcome.sentence)
        else:
            remarked = replace(empty, status=measured.status, sentence=measured.sentence)
            repeats = measured.repeats
            yield _with_repeats(remarked, repeats, [len(repeats)]) if repeats else remarked


def _empty_records(case: Case, columns: int, step: Step, run_id: str) -> Iterator[Record]:
    for metric in step.metrics:
        for query in case.asked.by_name if METRICS[metric].queried else [""]:
            yield Record(
                suite=case.suite,
                format=case.format,
                engine=engine_of(case.format),
                dataset=case.dataset,
                rows=case.rows,
                columns=columns,
                codec=case.codec,
                level=case.level,
                conditions=dict(case.conditions | {"cache": _cache(step, metric)}),
                metric=metric,
                unit=METRICS[metric].unit,
                value=None,
                repeats=[],
                interval=None,
                status=CellStatus.FAILED,
                sentence="",
                run_id=run_id,
                query=query,
                environment=environment.present(case.format, case.suite, case.conditions.get(AXIS, "")),
            )


def combined(earlier: Record | None, found: Record, outcome: Outcome) -> Record:
    """Return the record of a cell after one more round.

    A value stays, with a remark, when a later round yields none, except where that round shows that the
    data came back wrong.
    """
    if earlier is None or earlier.value is None or outcome.error == WrongValuesError.__name__:
        return found
    rounds = earlier.rounds + 1
    if found.value is None:
        remark = f"round {rounds}: {found.status}: {found.sentence}"
        return replace(earlier, rounds=rounds, sentence=f"{earlier.sentence}; {remark}".lstrip("; "))
    # Records of earlier versions do not have the sizes of their rounds.
    is_known = earlier.round_sizes or not earlier.repeats
    sizes = earlier.round_sizes + found.round_sizes if is_known else []
    return replace(_with_repeats(found, earlier.repeats + found.repeats, sizes), rounds=rounds)


def _with_repeats(record: Record, repeats: Sequence[float], round_sizes: list[int]) -> Record:
    interval = median_interval(repeats) if len(repeats) > 1 else None
    return replace(
        record,
        value=statistics.median(repeats),
        repeats=list(repeats),
        interval=[interval.low, interval.high] if interval else None,
        round_sizes=round_sizes,
    )


def _cache(step: Step, metric: str) -> str | None:
    return step.cache if METRICS[metric].cached else None
