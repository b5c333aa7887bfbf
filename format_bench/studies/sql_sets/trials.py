"""Trials of query sets: each pair of a format and an engine in a fresh process, answers compared."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import data_formats
import query_engines
from adapter_core import CannotHoldError, UnavailableError, UnknownNameError
from adapter_core.query import Query
from adapter_core.query_engine import Part
from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.families.tables import reference
from format_bench.instruments import isolation, threads
from format_bench.instruments.clock import Stopwatch
from format_bench.results.study_rows import StudyForm
from format_bench.studies.sql_sets.sets import constants, query_set, statements, tables
from format_bench.verification.answers import Answer, difference

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core.query_engine import QueryEngine
    from format_bench.families.questions import Questions

TRACKS = (DEFAULTS, TUNED)
"""Tracks of written files: as the library writes unasked, and by `DataFormat.save_tuned`."""

CALLS = 3
"""Calls of a query in a process; the first one loads code, and is not counted."""

LIMIT_SECONDS = 900.0
"""Of a process, for all queries of a set."""


@dataclass(frozen=True)
class QuerySetResult:
    """Measured values of one query on one pair and track; times are 0 if it has a reason."""

    query_set: str
    scale: float
    format: str
    engine: str
    track: str
    query: str
    file_bytes: int = 0
    """Of all tables of the set."""
    write_seconds: float = 0.0
    """CPU time of writing all tables."""
    wall_seconds: float = 0.0
    """Median of the calls after the first one, like the CPU time."""
    cpu_seconds: float = 0.0
    reason: str = ""
    """Sentence on why values are missing."""

    @property
    def pair(self) -> str:
        """Label of format, engine and track."""
        return f"{self.format}[{self.engine}], {self.track}"


FORM = StudyForm(
    suite="query-sets",
    of=QuerySetResult,
    values={
        "file_bytes": ("size", ""),
        "write_seconds": ("save CPU time", ""),
        "wall_seconds": "query time",
        "cpu_seconds": "query CPU time",
    },
    named={"query_set": "dataset"},
)


def engine_of_sql(name: str) -> QueryEngine:
    """Return a query engine that takes SQL.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    found = {each.label: each for each in query_engines.engines() if Part.SQL in each.does}
    if name not in found:
        raise UnknownNameError("engine of SQL", name, found)
    return found[name]


class _Reference:
    """Right answers to statements, each computed once.

    Parameters
    ----------
    tables : mapping
        The tables by name.
    statements : mapping
        Statements by the names of queries.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame], statements: Mapping[str, str]) -> None:
        self._tables, self._statements = tables, statements
        self._answers: dict[str, Answer] = {}

    def answer(self, query: str) -> Answer:
        if query not in self._answers:
            asked = Query(statement=self._statements[query])
            self._answers[query] = reference.answer(asked, self._tables)
        return self._answers[query]


@dataclass(frozen=True)
class _Files:
    """Saved tables of a format on a track."""

    paths: dict[str, Path]
    file_bytes: int
    write_seconds: float


def measure(
    name: str, scale: float, formats: Sequence[str], engines: Sequence[str], tracks: Sequence[str]
) -> Iterator[QuerySetResult]:
    """Yield the results of a query set, pair by pair.

    Answers are compared with DuckDB's on the tables in memory.

    Raises
    ------
    UnknownNameError
        If the query set, format or engine is unknown.
    UnavailableError
        If the data cannot be generated.
    """
    queries = query_set(name)
    pairs = [(data_formats.find(label), [engine_of_sql(each) for each in engines]) for label in formats]
    with TemporaryDirectory() as folder:
        data = tables(name, scale, Path(folder))
        values = constants(name, scale, data)
        asked = statements(queries, values)
        wanted = _Reference(data, asked)
        for data_format, readers_of_sql in pairs:
            for track in tracks:
                root = Path(folder, data_format.label, track)
                blank = QuerySetResult(name, scale, data_format.label, "", track, "")
                readers = [each for each in readers_of_sql if data_format.label in each.reads]
                saved = _saved(data_format.label, track, queries, data, root) if readers else ""
                for each in readers:
                    own = replace(blank, engine=each.label)
                    yield from _results(own, saved, asked, wanted)


def _saved(
    label: str, track: str, queries: Questions, data: Mapping[str, pd.DataFrame], root: Path
) -> _Files | str:
    """Save all tables; return the files, or the reason why there are none."""
    root.mkdir(parents=True)
    stopwatch = Stopwatch()
    try:
        adapter = data_formats.get(label)
        paths = {name: root / f"{name}{adapter.suffix}" for name in data}
        for name, df in data.items():
            with stopwatch:
                if track == TUNED and name in queries.tuned:
                    adapter.save_tuned(df, paths[name], **queries.tuned[name])
                else:
                    adapter.save(df, paths[name], adapter.default_codec if adapter.codecs else None)
    except (CannotHoldError, UnavailableError) as error:
        return isolation.outcome_of(error).reason
    size = sum(map(adapter.size_bytes, paths.values()))
    return _Files(paths, size, sum(each.cpu_seconds for each in stopwatch.samples))


def _results(
    blank: QuerySetResult,
    saved: _Files | str,
    asked: Mapping[str, str],
    wanted: _Reference,
) -> Iterator[QuerySetResult]:
    """Yield the results of one pair."""
    if isinstance(saved, str):
        for query in asked:
            yield replace(blank, query=query, reason=saved)
        return
    outcome = isolation.run(
        ask,
        *(blank.engine, blank.format, saved.paths, dict(asked)),
        limit_seconds=LIMIT_SECONDS,
        environment=threads.environment("1"),
    )
    blank = replace(blank, file_bytes=saved.file_bytes, write_seconds=saved.write_seconds)
    for query in asked:
        if outcome.status:
            yield replace(blank, query=query, reason=outcome.reason)
            continue
        found = outcome.value[query]
        if isinstance(found, str):
            yield replace(blank, query=query, reason=found)
            continue
        answer, wall, cpu = found
        differing = difference(answer, wanted.answer(query), ordered=False)
        if differing:
            reason = f"another answer than DuckDB's on the tables in memory: {differing}"
            yield replace(blank, query=query, reason=reason)
        else:
            yield replace(blank, query=query, wall_seconds=wall, cpu_seconds=cpu)


def ask(
    engine: str, format_label: str, paths: Mapping[str, Path], asked: Mapping[str, str]
) -> dict[str, Any]:
    """Return answer, wall and CPU seconds of each statement, or the engine's refusal as a sentence."""
    import pyarrow as pa  # noqa: F401 (before the threads are set)

    reader = engine_of_sql(engine)
    handle = reader.open(format_label, paths)
    threads.apply("1")
    found: dict[str, Any] = {}
    for name, statement in asked.items():
        try:
            found[name] = _asked(reader, handle, statement)
        # Errors of an engine have no common class; Polars' panics are no `Exception`.
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            found[name] = isolation.outcome_of(error).reason
    return found


def _asked(reader: QueryEngine, handle: Any, statement: str) -> tuple[pa.Table, float, float]:
    stopwatch, query = Stopwatch(), Query(statement=statement)
    for _ in range(CALLS):
        with stopwatch:
            answer = reader.answer(handle, query)
    later = stopwatch.samples[1:]
    return (
        answer,
        statistics.median(each.wall_seconds for each in later),
        statistics.median(each.cpu_seconds for each in later),
    )
