"""Measurement of queries to a saved file: warm and cold in turn, answers compared and written."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapter_core import UnsupportedError
from adapter_core.errors import ColdProcessError, NotColdError
from format_bench.families.operations import ColdRead, Measured, OpenQuery, Operations
from format_bench.instruments.clock import Effort, Stopwatch, turns
from format_bench.instruments.isolation import outcome_of
from format_bench.instruments.memory import IS_MEASURED, NOT_MEASURED, FirstGrowth
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus
from format_bench.results.suites import Step

# A query that takes so many times its share of the budget is repeated no more.
_DEAR = 3.0

# Time of a fresh process for imports from the disk and one cold answer, after which it hangs. Chosen,
# not measured.
_COLD_LIMIT_SECONDS = 600.0

Empty = tuple[CellStatus, str]
"""Status and sentence of cells without samples."""


@dataclass
class _Samples:
    """Samples of one query, by metric."""

    warm: Stopwatch = field(default_factory=Stopwatch)
    cold: Stopwatch = field(default_factory=Stopwatch)
    write: Stopwatch = field(default_factory=Stopwatch)
    fetched_bytes: list[int] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    memory_bytes: list[int] = field(default_factory=list)
    missed_share: float = 0.0
    remark: str = ""
    unwritten: Empty | None = None
    """Why there is no time of a written answer."""
    not_cold: Empty | None = None
    """Why there is no further cold answer, and perhaps none at all."""

    def of(self, metric: str, *, cold: bool) -> list[float]:
        """Return the samples of a metric, in its unit."""
        own = (self.cold if cold else self.warm).samples
        found: dict[str, list[float]] = {
            "query time": [each.wall_seconds for each in own],
            "query CPU time": [each.cpu_seconds for each in own],
            "answer write time": [each.wall_seconds for each in self.write.samples],
            "query bytes": [*self.fetched_bytes],
            "query requests": [*self.requests],
            "query memory": [*self.memory_bytes],
            "missed rows": [self.missed_share],
        }
        return found[metric]


class QuerySteps:
    """The steps `query` and `cold query` on a saved file.

    A file is opened anew for each sample, so that no library answers from its own memory of an
    earlier sample: outside the clock if the page cache is warm, unless the questions' file says
    `times_opening`, inside if it is cold, where a family may also take a fresh process for each. The
    first answer of a query is compared with the data themselves and not timed. It also brings the
    parts that the query needs into the page cache, so that the file as a whole, which may be larger than
    memory, is not read for it.

    Parameters
    ----------
    steps : list of Step
        Either step, or both, which then take turns.
    operations, data, file
        As `format_bench.families.measuring.measure_steps` takes them.
    """

    def __init__(
        self, steps: list[Step], operations: Operations, data: Callable[[], Any], file: Path
    ) -> None:
        self._steps, self._operations, self._file = steps, operations, file
        self._data = functools.cache(data)
        self._caches = [each.cache == "cold" for each in steps]
        self._weighs = any("query memory" in each.metrics for each in steps)
        self._writes = any("answer write time" in each.metrics for each in steps)

    def measure(self, effort: Effort) -> dict[str, list[Measured]]:
        """Return the metrics of each step, by its name, for each query of the family.

        Values of a query that does not apply, fails, or does not start within the limit are empty, with
        the reason.
        """
        found: dict[str, list[Measured]] = {each.name: [] for each in self._steps}
        for step in self._steps:
            for metric in step.metrics:
                if not METRICS[metric].queried:
                    share_seconds = effort.budget_seconds / 10
                    measured = self._operations.metric
                    found[step.name].append(
                        measured(metric, self._file, cache=step.cache, budget_seconds=share_seconds)
                    )
        start = time.perf_counter()
        names = list(self._operations.questions.by_name)
        asked = [each for each in names if not self._refusal(each)]
        for name in names:
            spent_seconds = time.perf_counter() - start
            outcome: _Samples | Empty | None = self._refusal(name)
            if outcome is None and spent_seconds > effort.limit_seconds:
                limit = f"the {effort.limit_seconds:,.0f} s that those of a file have"
                sentence = f"not started: the queries before took {spent_seconds:,.0f} s of {limit}"
                outcome = CellStatus.TIMED_OUT, sentence
            if outcome is None:
                outcome = self._outcome(name, effort, effort.budget_seconds / len(asked))
            for step in self._steps:
                found[step.name] += _measured(step, name, outcome)
        return found

    def _refusal(self, query: str) -> Empty | None:
        try:
            self._operations.check_query(query)
        except UnsupportedError as error:
            return _empty(error)
        return None

    def _outcome(self, query: str, effort: Effort, share_seconds: float) -> _Samples | Empty:
        """Return the samples of a query; an error of one leaves the others their values."""
        try:
            return self._samples(query, effort, share_seconds)
        except Exception as error:
            return _empty(error)

    def _samples(self, query: str, effort: Effort, share_seconds: float) -> _Samples:
        found = _Samples()
        opened, answer = self._first_answer(query, found)
        try:
            found.remark = opened.verify(answer, self._data())
            found.missed_share = opened.missed_share
            end = time.perf_counter() + share_seconds
            if self._writes:
                self._write(opened, answer, found, effort, share_seconds / 4)
        finally:
            opened.close()
        del answer, opened
        for turn in turns(end, effort.min_repeats, _DEAR * share_seconds):
            # What follows an eviction finds other caches than what follows a read.
            order = self._caches if (turn + effort.round_number) % 2 else self._caches[::-1]
            for cold in order:
                if not (cold and found.not_cold):
                    self._read(query, found, cold=cold)
            if found.not_cold and all(self._caches):
                break
        return found

    def _first_answer(self, query: str, found: _Samples) -> tuple[OpenQuery, Any]:
        """Return an open file and an answer; note the growth of memory, which later ones would reuse."""
        memory = FirstGrowth() if self._weighs and IS_MEASURED else None
        opened, answer = self._answered(query, memory or contextlib.nullcontext())
        if memory:
            found.memory_bytes.append(memory.growth.peak_bytes)
        return opened, answer

    def _answered(
        self, query: str, measured: contextlib.AbstractContextManager[object]
    ) -> tuple[OpenQuery, Any]:
        """Return an open file and an answer, which is measured, perhaps with the opening."""
        opening = functools.partial(self._operations.open_query, query, self._file)
        opened = None if self._operations.questions.times_opening else opening()
        try:
            with measured:
                opened = opened or opening()
                answer = opened.read()
        except BaseException:
            if opened:
                opened.close()
            raise
        return opened, answer

    def _read(self, query: str, found: _Samples, *, cold: bool) -> None:
        if cold:
            self._read_cold(query, found)
            return
        opened, answer = self._answered(query, found.warm)
        # Freed while the file is open: it may be a part of it.
        del answer
        opened.close()

    def _read_cold(self, query: str, found: _Samples) -> None:
        """Note a cold answer, or why there is none: the warm ones keep their values."""
        try:
            cold = self._operations.answer_cold(query, self._file, _COLD_LIMIT_SECONDS)
            if cold is None:
                opening = functools.partial(self._operations.open_query, query, self._file)
                keep_open = self._operations.questions.keep_open
                cold = ColdRead.measured(opening, self._file, keep_open=keep_open)
        except (NotColdError, ColdProcessError) as error:
            found.not_cold = _empty(error)
            return
        found.cold.samples.append(cold.sample)
        found.fetched_bytes.append(cold.fetched_bytes)
        found.requests.append(cold.requests)

    def _write(
        self, opened: OpenQuery, answer: Any, found: _Samples, effort: Effort, share_seconds: float
    ) -> None:
        """Write the answer to a file that does not exist yet, again and again within a time."""
        path = self._file.with_name(f"answer{self._operations.adapter.suffix}")
        end = time.perf_counter() + share_seconds
        try:
            for _ in turns(end, effort.min_repeats, _DEAR * share_seconds):
                self._operations.adapter.remove(path)
                with found.write:
                    opened.write(answer, path)
        except Exception as error:
            found.unwritten = _empty(error)
        finally:
            self._operations.adapter.remove(path)


def _measured(step: Step, query: str, outcome: _Samples | Empty) -> Iterator[Measured]:
    for metric in step.metrics:
        if not METRICS[metric].queried:
            continue
        if not isinstance(outcome, _Samples):
            yield Measured(metric, [], outcome[1], query, outcome[0])
        elif metric == "answer write time" and outcome.unwritten:
            yield Measured(metric, [], outcome.unwritten[1], query, outcome.unwritten[0])
        elif metric == "query memory" and not IS_MEASURED:
            yield Measured(metric, [], NOT_MEASURED, query, CellStatus.UNAVAILABLE)
        else:
            is_cold = step.cache == "cold"
            samples = outcome.of(metric, cold=is_cold)
            if is_cold and outcome.not_cold and not samples:
                yield Measured(metric, [], outcome.not_cold[1], query, outcome.not_cold[0])
                continue
            yield Measured(metric, samples, outcome.remark if metric == "query time" else "", query)


def _empty(error: Exception) -> Empty:
    reason = outcome_of(error).reason
    return reason.status, str(reason)
