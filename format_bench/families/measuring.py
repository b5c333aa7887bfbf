"""Measurement of one step of a family in one process, for the runner and the asv suites alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.families.operations import Measured
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Repeats, Stopwatch
from format_bench.instruments.memory import FirstGrowth, Growth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from format_bench.families.operations import Operations
    from format_bench.results.suites import Step


@dataclass(frozen=True)
class Effort:
    """Limits of the repeats of one step in one process."""

    budget_seconds: float
    """Wall time after which no further repeat starts."""
    min_repeats: int
    """The least number of repeats."""


def measure_step(
    step: Step, operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> list[Measured]:
    """Measure the metrics of a step.

    `save`, `read` and `cold read` are common to all families; a family's operations measure others.

    Parameters
    ----------
    step : Step
        A step of the family's declaration.
    operations : Operations
        The adapter with its operations, warmed up.
    data : callable
        Returns the data of the case. Called for saves and for the comparison after a read only, since
        data in memory would hide the growth of a read.
    file : Path
        The file: left by the step `save`, and needed by the others.
    effort : Effort
        Limits of the repeats.

    Raises
    ------
    CannotHoldError
        If the adapter cannot keep the data.
    NotColdError
        If the file cannot be evicted from the page cache, or that cannot be proven.
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    if step.name == "save":
        return _save(step, operations, data(), file, effort)
    if step.name == "read":
        return _read(operations, data, file, effort)
    if step.name == "cold read":
        return _cold_read(operations, file, effort)
    if step.cache != "cold":
        page_cache.fill(file)
    return [
        # Two metrics of three goes each share the time of a step.
        operations.track(each, file, cache=step.cache, budget_seconds=effort.budget_seconds / 6)
        for each in step.metrics
    ]


def _save(step: Step, operations: Operations, data: Any, file: Path, effort: Effort) -> list[Measured]:
    """Measure saving to a file that does not exist yet, plain and durable; the last file stays."""
    operations.check(data)
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    memory, sync = FirstGrowth(), Stopwatch()
    durable_seconds = []
    for stopwatch in repeats:
        operations.adapter.remove(file)
        with memory, stopwatch:
            operations.save(data, file)
        # Timed apart, since the growth of memory is measured in between. It also leaves nothing to be
        # written back during the next save.
        with sync:
            page_cache.sync(file)
        durable_seconds.append(stopwatch.last.wall_seconds + sync.last.wall_seconds)
    return [
        *_times("save", repeats),
        Measured("durable save time", durable_seconds[-len(repeats.samples) :]),
        _peak("save memory", memory.growth),
        *(operations.track(each, file) for each in step.metrics if each not in _TIMED_SAVE),
    ]


def _read(operations: Operations, data: Callable[[], Any], file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is in the page cache, and compare the data with those saved."""
    page_cache.fill(file)
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    memory = FirstGrowth()
    found: Any = None
    for stopwatch in repeats:
        # Freed here, outside the clock: binding the name again would free it inside.
        found = None
        with memory, stopwatch:
            found = operations.read(file)
    return [operations.verify(data(), found), *_times("read", repeats), *_memory_of_read(memory.growth)]


def _cold_read(operations: Operations, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is proven out of the page cache, and the read amplification."""
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    amplification = []
    for stopwatch in repeats:
        page_cache.make_cold(file)
        found, share = _read_cold(operations, file, stopwatch)
        amplification.append(share)
        # The pages of a file that is still mapped cannot be evicted.
        del found
    return [*_times("read", repeats), Measured("read amplification", amplification)]


def measure_reads_in_turn(
    operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure warm and cold reads in turn, so that nothing but the page cache tells them apart.

    Returns
    -------
    dict
        What `measure_step` returns for the steps `read` and `cold read`, by name of the step.

    Raises
    ------
    NotColdError
        If the file cannot be evicted from the page cache, or that cannot be proven.
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    warm, cold = Repeats(effort.budget_seconds, effort.min_repeats), Stopwatch()
    memory = FirstGrowth()
    amplification = []
    page_cache.fill(file)
    # On fresh memory: the growth counts, the time would be that of either state by the order alone.
    with memory:
        found = operations.read(file)
    for pass_, stopwatch in enumerate(warm):
        # What follows an eviction finds other caches than what follows a read, so they swap places.
        for is_cold in (pass_ % 2 == 0, pass_ % 2 == 1):
            found = None
            if is_cold:
                page_cache.make_cold(file)
                found, share = _read_cold(operations, file, cold)
                amplification.append(share)
            else:
                page_cache.fill(file)
                with stopwatch:
                    found = operations.read(file)
    # Repeats may have dropped the first call.
    del cold.samples[: len(cold.samples) - len(warm.samples)]
    return {
        "read": [
            operations.verify(data(), found),
            *_times("read", warm),
            *_memory_of_read(memory.growth),
        ],
        "cold read": [
            Measured("read time", [each.wall_seconds for each in cold.samples]),
            Measured("read CPU time", [each.cpu_seconds for each in cold.samples]),
            Measured("read amplification", amplification),
        ],
    }


def _read_cold(operations: Operations, file: Path, stopwatch: Stopwatch) -> tuple[Any, float]:
    """Read a file that is out of the page cache; return the data and the read amplification."""
    before = page_cache.read_bytes()
    with stopwatch:
        found = operations.read(file)
    fetched = (page_cache.read_bytes() - before).fetched
    read = max(page_cache.resident_bytes(file), fetched)
    return found, read / operations.adapter.size_bytes(file)


# The metrics of a save that come from the calls themselves; the others are measured on the file.
_TIMED_SAVE = {"save time", "save CPU time", "durable save time", "save memory"}


def _times(step: str, repeats: Repeats) -> list[Measured]:
    wall = [sample.wall_seconds for sample in repeats.samples]
    cpu = [sample.cpu_seconds for sample in repeats.samples]
    remark = f"repeats stopped as {repeats.stopped}"
    return [Measured(f"{step} time", wall, remark), Measured(f"{step} CPU time", cpu)]


def _memory_of_read(growth: Growth) -> list[Measured]:
    return [_peak("read memory", growth), Measured("held memory", [growth.held_bytes])]


def _peak(metric: str, growth: Growth) -> Measured:
    return Measured(metric, [growth.peak_bytes], f"by {growth.method}")
