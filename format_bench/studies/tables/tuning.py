"""Tables of gains and costs of tuned files, from results of the suite `query` on both of its tracks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import data_formats
from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.results import records
from format_bench.results.display.text import format_ratio, joined
from format_bench.results.study_rows import StudyForm
from format_bench.results.suites import SUITES
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.runs import BY
from format_bench.studies.declared.selection import Number
from format_bench.studies.declared.verdicts import geometric_mean

SHIFT_SECONDS = SUITES["query"].ratio_shift_seconds
"""Added to both times of a ratio: below it, timers and calls decide."""

_MEGA, _MILLI = 1e6, 1e-3


@dataclass(frozen=True)
class TuningResult:
    """A row of the CSV that earlier versions wrote: one question on one track of a pair."""

    pair: str
    rows: int
    track: str
    query: str
    file_bytes: int = 0
    write_seconds: float = 0.0
    cpu_seconds: float = 0.0
    reason: str = ""


FORM = StudyForm(
    suite=records.TUNING,
    of=TuningResult,
    values={
        "file_bytes": ("size", ""),
        "write_seconds": ("save CPU time", ""),
        "cpu_seconds": "query CPU time",
    },
    named={"pair": "format"},
    dataset="query",
)

Times = Mapping[str, Mapping[str, tuple[float, float]]]
"""CPU seconds of tuned and default files, by pair and question."""


def ratio_of(tuned: float, defaults: float) -> float:
    """Return the ratio of two times, in seconds."""
    return (tuned + SHIFT_SECONDS) / (defaults + SHIFT_SECONDS)


def extremes(ratios: Mapping[str, float]) -> list[str]:
    """Return the least and the largest ratio, each with its question."""
    ends = (function(ratios, key=ratios.__getitem__) for function in (min, max))
    return [f"{format_ratio(ratios[each])} ({each})" for each in ends]


def _pair(number: Number) -> str:
    """Return the label of a pair, with the writer of its files if that is not the usual one."""
    writer = number.conditions.get("writer")
    return f"{number.format}{BY}{writer}" if writer else number.format


def _times(context: Context) -> Times:
    """Return the times of the questions that were answered from both files."""
    found = context.numbers.select({"metric": "query CPU time"})
    times = {(_pair(each), each.query, each.track): each.value for each in found}
    both: dict[str, dict[str, tuple[float, float]]] = {}
    for (pair, query, track), value in times.items():
        if track == TUNED and (pair, query, DEFAULTS) in times:
            both.setdefault(pair, {})[query] = value, times[pair, query, DEFAULTS]
    return both


def options(context: Context) -> Iterator[Block]:
    """Yield the tuning of each format's file."""
    numbers = context.numbers.every + context.numbers.missing
    formats = dict.fromkeys(
        each.conditions.get("writer") or each.format.rpartition("[")[0] for each in numbers
    )
    rows = [[label, data_formats.find(label).tuning()] for label in formats]
    yield Block(header=["format", "tuned"], rows=rows, alignment="ll")


def summary(context: Context) -> Iterator[Block]:
    """Yield the costs of tuned files, and the mean of their gains."""
    costs = {
        metric: {
            (_pair(each), each.track): each.value for each in context.numbers.select({"metric": metric})
        }
        for metric in ("save CPU time", "size")
    }
    rows = []
    for pair, times in _times(context).items():
        gains = {query: ratio_of(*each) for query, each in times.items()}
        writes, sizes = ([own[pair, track] for track in (DEFAULTS, TUNED)] for own in costs.values())
        row = [pair, *(f"{each:.2f}" for each in writes), *(f"{each / _MEGA:,.1f}" for each in sizes)]
        rows.append([*row, format_ratio(geometric_mean([*gains.values()])), *extremes(gains)])
    header = [
        *("pair", "write, defaults", "write, tuned", "MB, defaults", "MB, tuned"),
        *("mean ratio", "least", "most"),
    ]
    rows_of = joined(f"{each:,}" for each in dict.fromkeys(each.rows for each in context.numbers.every))
    text = (
        "CPU seconds of the write and size of both tracks, and the geometric mean of tuned by defaults, "
        f"(t + 1 ms) / (t + 1 ms), over all questions that were answered on both; {rows_of} rows."
    )
    yield Block(text=text, header=header, rows=rows, alignment="l" + "r" * 7)


def ratios(context: Context) -> Iterator[Block]:
    """Yield the ratio of each question and pair."""
    both = _times(context)
    rows = []
    for query in dict.fromkeys(query for each in both.values() for query in each):
        row = [query]
        for times in both.values():
            if query not in times:
                row.append("none")
                continue
            ratio = ratio_of(*times[query])
            text = format_ratio(ratio)
            shown = text if 2 / 3 < ratio < 3 / 2 else f"**{text}**"
            row.append(f"{shown} ({times[query][1] / _MILLI:,.1f})")
        rows.append(row)
    yield Block(header=["question", *both], rows=rows, alignment="l" + "r" * len(both))
