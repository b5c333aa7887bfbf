"""Measurement of layouts: size, CPU times of writing and of both questions, in fresh processes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapter_core.errors import WrongValuesError
from adapter_core.files import remove
from format_bench.instruments import isolation, page_cache, threads
from format_bench.instruments.clock import Stopwatch
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.rows import Agenda, Instrument, chosen
from format_bench.studies.nested.compiled import (
    SPLIT,
    UNSPLIT,
    CompiledClasses,
    ProtobufClasses,
    RootBranches,
    RootRNTuple,
    RootTTree,
)
from format_bench.studies.nested.events import QUESTIONS, Events, Question
from format_bench.studies.nested.layouts import (
    TABLES,
    Hdf5,
    Layout,
    TableLayout,
    UprootRNTuple,
    UprootTTree,
)

# Of a process; the first one of ROOT also compiles.
LIMIT_SECONDS = 600.0

# Calls in a process; the first one, which finds fresh memory and loads code, is not counted.
CALLS = 4


@dataclass(frozen=True)
class NestingResult:
    """Measured values of one layout and codec; all 0 if it has a reason."""

    format: str
    layout: str
    deep: bool
    codec: str
    rows: int
    file_bytes: int = 0
    write_seconds: float = 0.0
    """CPU time, like those below: median of three calls."""
    whole_seconds: float = 0.0
    sparse_seconds: float = 0.0
    reason: str = ""
    """Sentence on why values are missing."""
    split: str = ""
    """ROOT's split level of a tree, which is also in the layout's name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "split", self.layout.partition(", split ")[2])


FORM = StudyForm(
    suite="nesting",
    of=NestingResult,
    values={
        "file_bytes": "size",
        "write_seconds": "save CPU time",
        "whole_seconds": ("query CPU time", "whole"),
        "sparse_seconds": ("query CPU time", "sparse"),
    },
    dataset="kaons",
)


def layouts(build: Path) -> list[Layout]:
    """Return all layouts, flat before deep.

    Parameters
    ----------
    build : Path
        Folder for compiled classes.
    """
    found: list[Layout] = [TableLayout(label, deep=deep) for label in TABLES for deep in (False, True)]
    kinds: tuple[type[Layout], ...] = (Hdf5, UprootTTree, UprootRNTuple)
    found += [kind(deep=deep) for kind in kinds for deep in (False, True)]
    for deep in (False, True):
        found += [RootTTree(deep=deep, build=build, split=split) for split in (UNSPLIT, SPLIT)]
    found.append(RootBranches(deep=False, build=build))
    compiled: tuple[type[CompiledClasses], ...] = (RootRNTuple, ProtobufClasses)
    return found + [kind(deep=deep, build=build) for kind in compiled for deep in (False, True)]


def labels() -> list[str]:
    """Return the names of all formats."""
    return list(dict.fromkeys(each.format for each in layouts(Path())))


def measure(agenda: Agenda[NestingResult], formats: str, rows: int) -> Iterator[NestingResult]:
    """Return the results of formats, named with commas, layout by layout and codec by codec.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    WrongValuesError
        If an answer differs from NumPy's.
    """
    return _measured(agenda, chosen(formats, labels()), rows)


def _measured(
    agenda: Agenda[NestingResult], labels: Sequence[str], rows: int
) -> Iterator[NestingResult]:
    events = Events.generate(rows)
    with TemporaryDirectory() as folder:
        for layout in layouts(Path(folder, "build")):
            for codec in layout.codecs if layout.format in labels else ():
                if agenda.has(format=layout.format, layout=layout.name, codec=codec, rows=rows):
                    yield _trial(layout, codec, events, Path(folder, "file"))


def _trial(layout: Layout, codec: str, events: Events, path: Path) -> NestingResult:
    blank = NestingResult(layout.format, layout.name, layout.deep, codec, events.rows)
    try:
        outcomes = [_run(write, layout, codec, events, path)]
        for question in QUESTIONS if not outcomes[0].status else ():
            outcomes.append(_run(read, layout, question, path))
            for answer in outcomes[-1].value[0] if not outcomes[-1].status else ():
                events.check(question, answer)
    except WrongValuesError as error:
        raise WrongValuesError(f"{layout.format}, {layout.name}, codec {codec}: {error}") from error
    finally:
        remove(path)
    if outcomes[-1].status:
        return replace(blank, reason=outcomes[-1].reason)
    (size, write_seconds), (_, whole_seconds), (_, sparse_seconds) = (each.value for each in outcomes)
    return replace(
        blank,
        file_bytes=size,
        write_seconds=write_seconds,
        whole_seconds=whole_seconds,
        sparse_seconds=sparse_seconds,
    )


def _run(step: Callable[..., Any], *arguments: Any) -> isolation.Outcome:
    """Call a step in a fresh process with one thread."""
    return isolation.run(
        step, *arguments, limit_seconds=LIMIT_SECONDS, environment=threads.environment("1")
    )


def write(layout: Layout, codec: str, events: Events, path: Path) -> tuple[int, float]:
    """Write events; return the bytes and the median CPU seconds."""
    layout.require()
    threads.apply("1")
    prepared = layout.prepare(events, codec)
    stopwatch = Stopwatch()
    for _ in range(CALLS):
        remove(path)
        with stopwatch:
            layout.write(prepared, path, codec)
    return sum(each.stat().st_size for each in page_cache.files_of(path)), _median_cpu_seconds(stopwatch)


def read(layout: Layout, question: Question, path: Path) -> tuple[list[Any], float]:
    """Answer a question from a file; return the answers of all calls and the median CPU seconds."""
    layout.require()
    threads.apply("1")
    answers = []
    stopwatch = Stopwatch()
    for _ in range(CALLS):
        with stopwatch:
            answer = layout.answer(path, question)
        answers.append(answer)
    return answers, _median_cpu_seconds(stopwatch)


def _median_cpu_seconds(stopwatch: Stopwatch) -> float:
    return statistics.median(sample.cpu_seconds for sample in stopwatch.samples[1:])


NESTING = Instrument(
    FORM,
    measure,
    lambda row: (
        f"{row.format}, {row.layout}, codec {row.codec}{f': {row.reason}' if row.reason else ''}"
    ),
)
