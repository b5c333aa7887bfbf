"""The runner's steps on a case, each called in a fresh process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.families.operations import Measured, Operations, operations_of, registry_of
from format_bench.instruments import page_cache, threads
from format_bench.instruments.clock import Repeats, Stopwatch
from format_bench.instruments.memory import FirstGrowth, Growth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from format_bench.families.cases import Case
    from format_bench.results.suites import Step


@dataclass(frozen=True)
class Effort:
    """How much of one step is measured in one process."""

    budget_seconds: float
    """Wall time after which no further repeat starts."""
    min_repeats: int
    """The least number of repeats."""


def operations_on(case: Case) -> Operations:
    """Return the operations of a case, warmed up and under the case's thread policy."""
    family = case.family
    adapter = registry_of(family).get(case.format)
    operations = operations_of(family)(adapter, case.codec, case.level)
    operations.warm_up()
    threads.apply(case.threads)
    return operations


def store_data(case: Case, path: Path) -> tuple[int, int]:
    """Generate the data of a case and store them; return the number of rows and columns."""
    operations = operations_of(case.family)
    return operations.store(operations.generate(case.dataset, case.rows), path)


def run_step(step: Step, case: Case, data: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure the metrics of a step; `save`, `read` and `cold read` are common to all families."""
    if step.name in _COMMON:
        return _COMMON[step.name](step, case, data, file, effort)
    if step.cache != "cold":
        _cache(file)
    operations = operations_on(case)
    return [
        # Two metrics of three goes each share the time of a step.
        operations.track(each, file, cache=step.cache, budget_seconds=effort.budget_seconds / 6)
        for each in step.metrics
    ]


def leave_file(case: Case, data: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    operations = operations_on(case)
    operations.save(operations.load(data), file)


def save(step: Step, case: Case, data: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure saving to a file that does not exist yet, plain and durable; the last file stays."""
    operations = operations_on(case)
    loaded = operations.load(data)
    operations.check(loaded)
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    memory, sync = FirstGrowth(), Stopwatch()
    durable_seconds = []
    for stopwatch in repeats:
        operations.adapter.remove(file)
        with memory, stopwatch:
            operations.save(loaded, file)
        # Timed apart, since the growth of memory is measured in between.
        with sync:
            page_cache.sync(file)
        durable_seconds.append(stopwatch.last.wall_seconds + sync.last.wall_seconds)
    return [
        *_times("save", repeats),
        Measured("durable save time", durable_seconds),
        _peak("save memory", memory.growth),
        *(operations.track(each, file) for each in step.metrics if each not in _TIMED_SAVE),
    ]


def read(_: Step, case: Case, data: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is in the page cache, and compare the data with those saved.

    Raises
    ------
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    operations = operations_on(case)
    _cache(file)
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    memory = FirstGrowth()
    found: Any = None
    for stopwatch in repeats:
        # Freed here, outside the clock: binding the name again would free it inside.
        found = None
        with memory, stopwatch:
            found = operations.read(file)
    return [
        operations.verify(operations.load(data), found),
        *_times("read", repeats),
        _peak("read memory", memory.growth),
        Measured("held memory", [memory.growth.held_bytes]),
    ]


def cold_read(_: Step, case: Case, __: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is proven out of the page cache, and the read amplification.

    Raises
    ------
    NotColdError
        If it cannot be evicted, or that cannot be proven.
    """
    operations = operations_on(case)
    size_bytes = operations.adapter.size_bytes(file)
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    amplification = []
    for stopwatch in repeats:
        page_cache.make_cold(file)
        before = page_cache.read_bytes()
        with stopwatch:
            found = operations.read(file)
        fetched = (page_cache.read_bytes() - before).fetched
        amplification.append(max(page_cache.resident_bytes(file), fetched) / size_bytes)
        # The pages of a file that is still mapped cannot be evicted.
        del found
    return [*_times("read", repeats), Measured("read amplification", amplification)]


_COMMON: dict[str, Callable[[Step, Case, Path, Path, Effort], list[Measured]]] = {
    "save": save,
    "read": read,
    "cold read": cold_read,
}

# The metrics of a save that come from the calls themselves; the others are measured on the file.
_TIMED_SAVE = {"save time", "save CPU time", "durable save time", "save memory"}


def _cache(file: Path) -> None:
    """Bring a file, or all files of a folder, into the page cache."""
    for each in page_cache.files_of(file):
        each.read_bytes()


def _times(step: str, repeats: Repeats) -> list[Measured]:
    wall = [sample.wall_seconds for sample in repeats.samples]
    cpu = [sample.cpu_seconds for sample in repeats.samples]
    remark = f"repeats stopped as {repeats.stopped}"
    return [Measured(f"{step} time", wall, remark), Measured(f"{step} CPU time", cpu)]


def _peak(metric: str, growth: Growth) -> Measured:
    return Measured(metric, [growth.peak_bytes], f"by {growth.method}")
