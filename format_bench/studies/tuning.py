"""Study of tuning: what files written for queries cost, and what they save, by format and question."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

import data_formats
import query_engines
from adapter_core import CannotHoldError, UnavailableError
from adapter_core.errors import InvalidRequestError, InvalidResultsError
from adapter_core.query import TABLE
from format_bench.families.queries.operations import (
    DEFAULTS,
    TUNED,
    EngineQuery,
    QueryOperations,
    QueryTables,
)
from format_bench.families.tables.subject import tuning_keys
from format_bench.instruments import isolation, threads
from format_bench.instruments.clock import Stopwatch
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import format_ratio
from format_bench.results.study_rows import StudyForm, read
from format_bench.studies.declared.rows import kept

if TYPE_CHECKING:
    from adapter_core.query_engine import EngineOnFormat

DATASET = "query"

PAIRS = (
    "Parquet[duckdb],Parquet[datafusion],Parquet[polars],Parquet[pyarrow],ORC[pyarrow],Lance[lance],"
    "Vortex[vortex],DuckDB[duckdb],SQLite[sqlite3],HDF5.table[pytables],TileDB[tiledb],Delta[deltalake],"
    "Iceberg[pyiceberg],Feather[polars],Feather[pyarrow],CSV[polars],"
    "Parquet[duckdb] by Parquet[duckdb],Parquet[duckdb] by Parquet[polars],"
    "Parquet[duckdb] by Parquet[fastparquet]"
)

BY = " by "
"""Between a pair and the adapter that writes its files, where that is not the format's usual one."""

CALLS = 3
"""Calls of a question in a process; the first one, which loads code, is not counted."""

LIMIT_SECONDS = 600.0
"""Of a process, for all questions."""

SHIFT_SECONDS = 1e-3
"""Added to both times of a ratio."""

_MEGA, _MILLI = 1e6, 1e-3

_HEAD = """\
# What tuning is worth

Each format saves the data set `query` twice. *defaults* is the file that the library writes
unasked. *tuned* is the file of `save_tuned`: sorted by {sort_by}, with what the format has for the
lookup columns {lookups}; the writer knows no constants of questions. The table is in that order
already, so the ratios show groups, statistics, filters and indexes, not the order.

A pair of a format and an engine answers all questions of the suite `query` in a fresh process on
one CPU, each three times; the median CPU time of the second and third call counts. Every answer is
compared with NumPy's. "Parquet[duckdb] by Parquet[polars]" is the engine DuckDB on files that Polars
wrote; all other files are those of the format's usual library. Made by `format-bench study tuning`,
{rows:,} rows.
"""


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


def measure(pairs: Sequence[str], rows: int) -> Iterator[TuningResult]:
    """Yield the results of pairs, track by track and question by question.

    Raises
    ------
    UnknownNameError
        If the pair is unknown.
    """
    found = {label: _pair_and_writer(label) for label in pairs}
    with TemporaryDirectory() as folder:
        data = QueryOperations.generate(DATASET, rows)
        stored = Path(folder, "data")
        QueryOperations.store(data, stored)
        saved: dict[tuple[str, str], tuple[Path, int, float] | str] = {}
        for label, (pair, writer) in found.items():
            for track in (DEFAULTS, TUNED):
                key = writer, track
                if key not in saved:
                    saved[key] = _saved(pair, writer, track, data, Path(folder, *key))
                yield from _results(TuningResult(label, rows, track, ""), saved[key], stored)


def _pair_and_writer(label: str) -> tuple[EngineOnFormat, str]:
    """Return a pair, and the label of the format whose adapter writes its files.

    Raises
    ------
    UnknownNameError
        If the pair or format is unknown.
    InvalidRequestError
        If the adapter writes files of another kind.
    """
    name, _, writer = label.partition(BY)
    pair = query_engines.find(name)
    if not writer:
        return pair, pair.format.label
    suffix = data_formats.find(writer).suffix
    if suffix != pair.format.suffix:
        raise InvalidRequestError(f"{writer} writes {suffix}, which is no {pair.format.label}")
    return pair, writer


def _saved(
    pair: EngineOnFormat, writer: str, track: str, data: QueryTables, folder: Path
) -> tuple[Path, int, float] | str:
    """Return the folder of the saved tables, their bytes and CPU seconds, or the reason for none."""
    folder.mkdir(parents=True)
    stopwatch = Stopwatch()
    sort_by, lookups = tuning_keys(DATASET)
    try:
        adapter = data_formats.get(writer)
        paths = pair.paths(folder, data.tables)
        for name, df in data.tables.items():
            with stopwatch:
                if track == TUNED and name == TABLE:
                    adapter.save_tuned(df, paths[name], sort_by, lookups)
                else:
                    adapter.save(df, paths[name], adapter.default_codec if adapter.codecs else None)
    except (CannotHoldError, UnavailableError) as error:
        return isolation.outcome_of(error).reason
    size = sum(map(adapter.size_bytes, paths.values()))
    return folder, size, sum(each.cpu_seconds for each in stopwatch.samples)


def _results(
    blank: TuningResult, saved: tuple[Path, int, float] | str, stored: Path
) -> Iterator[TuningResult]:
    if isinstance(saved, str):
        yield replace(blank, reason=saved)
        return
    folder, size, seconds = saved
    blank = replace(blank, file_bytes=size, write_seconds=seconds)
    outcome = isolation.run(
        ask,
        *(blank.pair, folder, stored),
        limit_seconds=LIMIT_SECONDS,
        environment=threads.environment("1"),
    )
    if outcome.status:
        yield replace(blank, reason=outcome.reason)
        return
    for query, value in outcome.value.items():
        if isinstance(value, str):
            yield replace(blank, query=query, reason=value)
        else:
            yield replace(blank, query=query, cpu_seconds=value)


def ask(label: str, folder: Path, stored: Path) -> dict[str, float | str]:
    """Return the CPU seconds of each question that is asked, or the reason why there are none."""
    pair = query_engines.get(label.partition(BY)[0])
    threads.apply("1")
    data = QueryOperations.load(stored)
    paths = pair.paths(folder, data.facts.names)
    found: dict[str, float | str] = {}
    for name, query in data.facts.asked.items():
        if isinstance(query, str):
            continue
        stopwatch = Stopwatch()
        try:
            pair.engine.check(pair.format.label, query)
            opened = EngineQuery(pair, paths, name, query)
            for _ in range(CALLS):
                with stopwatch:
                    answer = opened.read()
            opened.verify(answer, data)
            opened.close()
        except Exception as error:
            found[name] = (
                isolation.outcome_of(error).reason.strip().partition("\n")[0][:200]
                or type(error).__name__
            )
            continue
        found[name] = statistics.median(each.cpu_seconds for each in stopwatch.samples[1:])
    return found


def page(results: Sequence[TuningResult]) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If results are missing.
    """
    if not results:
        raise InvalidResultsError("there are no results of tuning")
    sort_by, lookups = tuning_keys(DATASET)
    columns = {"sort_by": _code(sort_by), "lookups": _code(lookups)}
    lines = [_HEAD.format(rows=results[0].rows, **columns)]
    lines += _options(results)
    lines += _summary(results)
    lines += _ratios(results)
    lines += _reasons(results)
    return "\n".join(lines).rstrip() + "\n"


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _options(results: Sequence[TuningResult]) -> Iterator[str]:
    yield "## What the tuned files have\n"
    formats = dict.fromkeys(_pair_and_writer(each.pair)[1] for each in results)
    rows = [[label, data_formats.find(label).tuning()] for label in formats]
    yield from table_lines(["format", "tuned"], rows, alignment="ll")
    yield ""


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


def _summary(results: Sequence[TuningResult]) -> Iterator[str]:
    yield "## Costs and gains\n"
    yield (
        "CPU seconds of the write and size of both tracks, and the geometric mean of tuned by defaults, "
        "(t + 1 ms) / (t + 1 ms), over all questions that were answered on both.\n"
    )
    rows = []
    for pair, queries in _both(results).items():
        ratios = {query: _ratio(*each) for query, each in queries.items()}
        tuned, defaults = next(iter(queries.values()))
        least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        rows.append(
            [
                pair,
                f"{defaults.write_seconds:.2f}",
                f"{tuned.write_seconds:.2f}",
                f"{defaults.file_bytes / _MEGA:,.1f}",
                f"{tuned.file_bytes / _MEGA:,.1f}",
                format_ratio(math.exp(statistics.fmean(map(math.log, ratios.values())))),
                f"{format_ratio(ratios[least])} ({least})",
                f"{format_ratio(ratios[most])} ({most})",
            ]
        )
    header = [
        *("pair", "write, defaults", "write, tuned", "MB, defaults", "MB, tuned"),
        *("mean ratio", "least", "most"),
    ]
    yield from table_lines(header, rows)
    yield ""


def _ratios(results: Sequence[TuningResult]) -> Iterator[str]:
    yield "## Tuned by defaults, each question\n"
    yield (
        "Ratio, and in brackets the CPU time with defaults in ms. **Bold**: less than 0.67, or more "
        "than 1.5.\n"
    )
    both = _both(results)
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
    yield from table_lines(["question", *both], rows)
    yield ""


def _reasons(results: Sequence[TuningResult]) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in results:
        if each.reason:
            place = f"{each.query or 'all'} ({each.track})"
            reasons.setdefault((each.pair, each.reason), []).append(place)
    if reasons:
        yield "## Not answered\n"
        for (pair, reason), places in reasons.items():
            yield f"- {pair}, {', '.join(places)}: {reason}"


@click.command
@click.option(
    "--pairs",
    default=PAIRS,
    show_default=True,
    help='Formats with engines; files by another adapter as "PAIR by FORMAT".',
)
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results.")
@click.option(
    "--page",
    "shown",
    type=click.Path(exists=True, path_type=Path),
    help="Print the page of results of --out, and measure nothing.",
)
def command(pairs: str, rows: int, out: Path | None, shown: Path | None) -> None:
    """Compare files written for queries with those that libraries write unasked.

    Each format saves the data set `query` on both tracks, and its engine answers the questions of the
    suite `query` from both files. Prints a Markdown page: options, writes, sizes, and ratios of
    CPU times.

    \b
    Examples:
      format-bench study tuning --out reports/tuning > docs/tuning.md
      format-bench study tuning --pairs "Parquet[duckdb],Lance[lance]" --rows 1000000
      format-bench study tuning --pairs "Parquet[duckdb] by Parquet[polars]"
      format-bench study tuning --page reports/tuning
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if shown:
        results = read(FORM, shown)
    else:
        results = []
        wanted = [label for label in pairs.split(",") if label]
        for each in kept(FORM, out, measure(wanted, rows)):
            if not results or (each.pair, each.track) != (results[-1].pair, results[-1].track):
                click.echo(f"{each.pair}, {each.track}", err=True)
            results.append(each)
    click.echo(page(results), nl=False)
