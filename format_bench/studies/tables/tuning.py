"""Instrument and sections of the study of tuning: runs of the suite `query` on both of its tracks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import data_formats
from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.results.display.text import format_ratio, joined
from format_bench.results.study_rows import StudyForm
from format_bench.runner.plan import RunRequest, plan
from format_bench.runner.runner import Limits, Runner
from format_bench.studies.declared.blocks import Block
from format_bench.studies.declared.rows import Instrument

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.results.records import Record
    from format_bench.studies.declared.section import Context

SUITE = DATASET = "query"

STEPS = ("save", "query")

BY = " by "
"""Between a pair and the adapter that writes its files, where that is not the format's usual one."""

LIMITS = Limits(repeats=3, budget_seconds=0, limit_seconds=600)
"""As often as the suite's shortest runs repeat a call: ratios of many questions even out the rest."""

SHIFT_SECONDS = 1e-3
"""Added to both times of a ratio, as the suite does: below it, timers and calls decide."""

_MEGA, _MILLI = 1e6, 1e-3


@dataclass(frozen=True)
class TuningResult:
    """CPU time of one question on one track of a pair; 0 if it has a reason."""

    pair: str
    rows: int
    track: str
    query: str
    file_bytes: int = 0
    write_seconds: float = 0.0
    """CPU time of writing."""
    cpu_seconds: float = 0.0
    reason: str = ""
    """Sentence on why a value is missing."""


FORM = StudyForm(
    suite="tuning",
    of=TuningResult,
    values={
        "file_bytes": ("size", ""),
        "write_seconds": ("save CPU time", ""),
        "cpu_seconds": "query CPU time",
    },
    named={"pair": "format"},
    dataset=DATASET,
)


def measure(pairs: str, rows: int) -> Iterator[TuningResult]:
    """Return the results of pairs, track by track and question by question.

    Parameters
    ----------
    pairs : str
        Labels with commas; files by another adapter as "PAIR by FORMAT".
    rows : int
        Rows of the data set.

    Raises
    ------
    UnknownNameError
        If a pair or a format is unknown.
    """
    return _measured([case for label in pairs.split(",") if label for case in _cases(label, rows)])


def _cases(label: str, rows: int) -> Sequence[Case]:
    pair, _, writer = label.partition(BY)
    conditions = {"threads": ("1",), "writer": (writer,) if writer else ()}
    request = RunRequest(suite=SUITE, formats=(pair,), rows=rows, conditions=conditions)
    return plan(request).cases


def _measured(cases: Sequence[Case]) -> Iterator[TuningResult]:
    with TemporaryDirectory() as folder:
        runner = Runner(Path(folder, "results"), Path(folder), LIMITS, steps=STEPS)
        for (label, _), found in groupby(runner.run(cases), lambda each: (_label(each), each.track)):
            own = [replace(each, suite=FORM.suite, format=label) for each in found]
            yield from FORM.rows(own)


def _label(record: Record) -> str:
    writer = record.conditions.get("writer")
    return f"{record.format}{BY}{writer}" if writer else record.format


TUNING = Instrument(FORM, measure, told=lambda each: f"{each.pair}, {each.track}")


def options(context: Context) -> Iterator[Block]:
    """Yield what the tuned file of each format has."""
    labels = [pair.partition(BY)[::2] for pair in _pairs(context.rows)]
    formats = dict.fromkeys(writer or pair.rpartition("[")[0] for pair, writer in labels)
    rows = [[label, data_formats.find(label).tuning()] for label in formats]
    yield Block(header=["format", "tuned"], rows=rows, alignment="ll")


def _pairs(results: Iterable[TuningResult]) -> list[str]:
    return list(dict.fromkeys(each.pair for each in results))


def _ratio(tuned: TuningResult, defaults: TuningResult) -> float:
    return (tuned.cpu_seconds + SHIFT_SECONDS) / (defaults.cpu_seconds + SHIFT_SECONDS)


def _both(
    results: Sequence[TuningResult],
) -> dict[str, dict[str, tuple[TuningResult, TuningResult]]]:
    """Return tuned and default results by pair and question, where both have values."""
    cells = {(each.pair, each.query, each.track): each for each in results if not each.reason}
    found: dict[str, dict[str, tuple[TuningResult, TuningResult]]] = {}
    for (pair, query, track), each in cells.items():
        other = cells.get((pair, query, DEFAULTS))
        if track == TUNED and other is not None:
            found.setdefault(pair, {})[query] = each, other
    return found


def summary(context: Context) -> Iterator[Block]:
    """Yield the costs of tuned files, and the mean of their gains."""
    rows = []
    for pair, queries in _both(context.rows).items():
        gains = {query: _ratio(*each) for query, each in queries.items()}
        tuned, defaults = next(iter(queries.values()))
        least, most = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
        rows.append(
            [
                pair,
                f"{defaults.write_seconds:.2f}",
                f"{tuned.write_seconds:.2f}",
                f"{defaults.file_bytes / _MEGA:,.1f}",
                f"{tuned.file_bytes / _MEGA:,.1f}",
                format_ratio(math.exp(statistics.fmean(map(math.log, gains.values())))),
                f"{format_ratio(gains[least])} ({least})",
                f"{format_ratio(gains[most])} ({most})",
            ]
        )
    header = [
        *("pair", "write, defaults", "write, tuned", "MB, defaults", "MB, tuned"),
        *("mean ratio", "least", "most"),
    ]
    text = (
        "CPU seconds of the write and size of both tracks, and the geometric mean of tuned by defaults, "
        f"(t + 1 ms) / (t + 1 ms), over all questions that were answered on both; {_size(context)} rows."
    )
    yield Block(text=text, header=header, rows=rows, alignment="l" + "r" * 7)


def _size(context: Context) -> str:
    return joined(f"{each:,}" for each in dict.fromkeys(row.rows for row in context.rows))


def ratios(context: Context) -> Iterator[Block]:
    """Yield the ratio of each question and pair."""
    both = _both(context.rows)
    queries = dict.fromkeys(query for each in both.values() for query in each)
    rows = []
    for query in queries:
        row = [query]
        for found in both.values():
            if query not in found:
                row.append("none")
                continue
            tuned, defaults = found[query]
            ratio = _ratio(tuned, defaults)
            text = format_ratio(ratio)
            shown = text if 2 / 3 < ratio < 3 / 2 else f"**{text}**"
            row.append(f"{shown} ({defaults.cpu_seconds / _MILLI:,.1f})")
        rows.append(row)
    yield Block(header=["question", *both], rows=rows, alignment="l" + "r" * len(both))


def reasons(context: Context) -> Iterator[Block]:
    """Yield the questions that were not answered, by pair and reason; no block if there are none."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in context.rows:
        if each.reason:
            place = f"{each.query or 'all'} ({each.track})"
            found.setdefault((each.pair, each.reason), []).append(place)
    if found:
        items = [f"{pair}, {', '.join(places)}: {why}" for (pair, why), places in found.items()]
        yield Block(items=items)
