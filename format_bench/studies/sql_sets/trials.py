"""Trials of query sets: each pair of a format and an engine in a fresh process, answers compared."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import data_formats
from adapter_core import CannotHoldError, UnavailableError
from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.instruments import isolation, threads
from format_bench.instruments.clock import Stopwatch
from format_bench.results.study_rows import StudyForm
from format_bench.studies.sql_sets.dialects import dialect
from format_bench.studies.sql_sets.sets import QuerySet, constants, filled, query_set, tables
from format_bench.verification.answers import difference

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

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

    The first answer to a query is the reference of the others: no library here has its own answers.

    Raises
    ------
    UnknownNameError
        If the query set, format or engine is unknown.
    UnavailableError
        If the data cannot be generated.
    """
    queries = query_set(name)
    pairs = [(data_formats.find(label), [dialect(each) for each in engines]) for label in formats]
    with TemporaryDirectory() as folder:
        data = tables(name, scale, Path(folder))
        values = constants(name, scale, data)
        statements = {each: filled(text, values) for each, text in queries.statements.items()}
        answers: dict[str, pa.Table] = {}
        for data_format, dialects in pairs:
            for track in tracks:
                root = Path(folder, data_format.label, track)
                blank = QuerySetResult(name, scale, data_format.label, "", track, "")
                readers = [each for each in dialects if data_format.label in each.engine.reads]
                saved = _saved(data_format.label, track, queries, data, root) if readers else ""
                for each in readers:
                    own = replace(blank, engine=each.name)
                    yield from _results(own, saved, statements, answers)


def _saved(
    label: str, track: str, queries: QuerySet, data: Mapping[str, pd.DataFrame], root: Path
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
        return str(error)
    size = sum(map(adapter.size_bytes, paths.values()))
    return _Files(paths, size, sum(each.cpu_seconds for each in stopwatch.samples))


def _results(
    blank: QuerySetResult,
    saved: _Files | str,
    statements: Mapping[str, str],
    answers: dict[str, pa.Table],
) -> Iterator[QuerySetResult]:
    """Yield the results of one pair; note the first answers."""
    if isinstance(saved, str):
        for query in statements:
            yield replace(blank, query=query, reason=saved)
        return
    outcome = isolation.run(
        ask,
        *(blank.engine, blank.format, saved.paths, dict(statements)),
        limit_seconds=LIMIT_SECONDS,
        environment=threads.environment("1"),
    )
    blank = replace(blank, file_bytes=saved.file_bytes, write_seconds=saved.write_seconds)
    for query in statements:
        if outcome.status:
            yield replace(blank, query=query, reason=outcome.sentence)
            continue
        found = outcome.value[query]
        if isinstance(found, str):
            yield replace(blank, query=query, reason=found)
            continue
        answer, wall, cpu = found
        wanted = answers.setdefault(query, answer)
        differing = difference(answer, wanted, ordered=False)
        if differing:
            yield replace(
                blank, query=query, reason=f"another answer than the first engine: {differing}"
            )
        else:
            yield replace(blank, query=query, wall_seconds=wall, cpu_seconds=cpu)


def ask(
    engine: str, format_label: str, paths: Mapping[str, Path], statements: Mapping[str, str]
) -> dict[str, Any]:
    """Return answer, wall and CPU seconds of each statement, or the engine's refusal as a sentence."""
    import pyarrow as pa  # noqa: F401 (before the threads are set)

    reader = dialect(engine)
    handle = reader.open(format_label, paths)
    threads.apply("1")
    found: dict[str, Any] = {}
    for name, statement in statements.items():
        try:
            found[name] = _asked(reader, handle, statement)
        # Errors of an engine have no common class; Polars' panics are no `Exception`.
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            found[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    return found


def _asked(reader: Any, handle: Any, statement: str) -> tuple[pa.Table, float, float]:
    stopwatch = Stopwatch()
    for _ in range(CALLS):
        with stopwatch:
            answer = reader.answer(handle, statement)
    later = stopwatch.samples[1:]
    return (
        comparable(answer),
        statistics.median(each.wall_seconds for each in later),
        statistics.median(each.cpu_seconds for each in later),
    )


def comparable(answer: pa.Table) -> pa.Table:
    """Return an answer with times as integers, whose units differ between engines."""
    import pyarrow as pa
    from pyarrow import types

    for place, field in enumerate(answer.schema):
        if types.is_timestamp(field.type) or types.is_date(field.type):
            column = answer.column(place).cast(pa.timestamp("us")).cast(pa.int64())
            answer = answer.set_column(place, field.name, column)
    return answer
