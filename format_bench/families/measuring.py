"""Measurement of steps of a family in one process, for the runner and the asv suites alike.

Steps that differ by the page cache alone take turns in one process, so that nothing else distinguishes
their values.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adapter_core.errors import NotColdError
from format_bench.families.operations import Measured, Operations
from format_bench.families.query_measuring import QuerySteps
from format_bench.instruments import page_cache
from format_bench.instruments.clock import (
    MIN_REPEATS,
    Effort,
    Repeats,
    Sample,
    Stopwatch,
    first_calls,
    turns,
)
from format_bench.instruments.medium import DeviceWatch, MediumFacts
from format_bench.instruments.memory import IS_MEASURED, NOT_MEASURED, FirstGrowth
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus
from format_bench.results.suites import Step


def measure_steps(
    steps: Sequence[Step], operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure the metrics of steps in one process, each cold step in turn with its warm one.

    `save`, `read` and `cold read` are common to all families; a family's operations measure others.

    Parameters
    ----------
    steps : sequence of Step
        Steps of the family's declaration, in order.
    operations : Operations
        The adapter with its operations, warmed up.
    data : callable
        Returns the data of the case. Called for saves and for the comparison after a read only, since
        data in memory would hide the growth of a read.
    file : Path
        The file: left by the step `save`, and needed by the others.
    effort : Effort
        Limits of the repeats.

    Returns
    -------
    dict
        The metrics of each step, by its name.

    Raises
    ------
    CannotHoldError
        If the adapter cannot keep the data.
    NotColdError
        If the file cannot be evicted from the page cache, or that cannot be proven.
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    # The objects of all imports, which collections before and after each measured call would search.
    gc.freeze()
    found: dict[str, list[Measured]] = {}
    for group in turns_of(steps):
        found |= _measure_group(group, operations, data, file, effort)
    return found


def measure_step(
    step: Step, operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> list[Measured]:
    """Measure the metrics of one step, as `measure_steps` does."""
    return measure_steps([step], operations, data, file, effort)[step.name]


def turns_of(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    """Return steps in order, each cold step beside its warm one, if both are asked for."""
    by_name = {each.name: each for each in steps}
    pairs = [(each, by_name[f"cold {each.name}"]) for each in steps if f"cold {each.name}" in by_name]
    groups = {pair[0].name: pair for pair in pairs}
    in_turn = {cold.name for _, cold in pairs}
    return [groups.get(each.name, (each,)) for each in steps if each.name not in in_turn]


def _measure_group(
    group: Sequence[Step], operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure the metrics of one step, or of a step and its cold one in turn."""
    elsewhere = {each.name: operations.measure(each, file, effort) for each in group}
    if None not in elsewhere.values():
        return {name: measured for name, measured in elsewhere.items() if measured is not None}
    if any(each.cache == "cold" for each in group):
        # Where no file can be cold, this fails before it costs a read, or each query on its own.
        _check_can_be_cold(file)
    steps, name = [*group], group[0].name.removeprefix("cold ")
    if name == "save":
        return {name: _save(group[0], operations, data(), file, effort)}
    if name == "read":
        return _reads(steps, operations, data, file, effort)
    if name == "query":
        return QuerySteps(steps, operations, data, file).measure(effort)
    return _tracks_in_turn(steps, operations, file, effort)


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
        *_times("save", repeats.samples, _end_of(repeats)),
        Measured("durable save time", durable_seconds[-len(repeats.samples) :]),
        *_growth_of_memory(memory, "save memory", "save peak memory"),
        *(operations.metric(each, file) for each in step.metrics if each not in _TIMED_SAVE),
    ]


def _reads(
    steps: list[Step], operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure reads of a file in the page cache, of one proven out of it, or both in turn.

    The data of warm reads are compared with those saved; cold ones have a read amplification.
    """
    repeats = Repeats(effort.budget_seconds, effort.min_repeats)
    in_turn, of_cold, memory = len(steps) > 1, Stopwatch(), FirstGrowth()
    amplification, device = [], DeviceWatch(file.parent)
    found: Any = None
    dear: list[Sample] = []
    if in_turn or steps[0].cache != "cold":
        page_cache.fill(file)
    if in_turn:
        found, dear = _first_read(operations, file, memory, effort)
    for turn, stopwatch in enumerate(repeats):
        stopwatch.samples += dear
        for step in steps[1:] if dear else _ordered(steps, turn + effort.round_number):
            # Freed here, outside the clock: binding the name again would free it inside, and the pages
            # of a file that is still mapped cannot be evicted.
            found = None
            if in_turn or step.cache == "cold":
                _set_cache(step, file)
            if step.cache == "cold":
                with device:
                    found, share = _read_cold(operations, file, of_cold if in_turn else stopwatch)
                amplification.append(share)
            else:
                with memory, stopwatch:
                    found = operations.read(file)
        dear = []
    # Repeats may have dropped the first call.
    cold_samples = of_cold.samples[-len(repeats.samples) :] if in_turn else repeats.samples
    remark = _end_of(repeats)
    of_step: dict[str, list[Measured]] = {}
    for step in steps:
        if step.cache == "cold":
            of_step[step.name] = [
                *_times("read", cold_samples, "" if in_turn else remark),
                Measured("read amplification", amplification, str(device)),
            ]
        else:
            of_step[step.name] = [
                operations.verify(data(), found),
                *_times("read", repeats.samples, remark),
                *_growth_of_memory(memory, "read memory", "read peak memory", "held memory"),
            ]
    return of_step


def _first_read(
    operations: Operations, file: Path, memory: FirstGrowth, effort: Effort
) -> tuple[Any, list[Sample]]:
    """Read on fresh memory, whose growth counts; return the data, and the sample if it counts too.

    The time would depend on the order alone; but a call dearer than its budget has no later ones.
    """
    stopwatch = Stopwatch()
    with memory, stopwatch:
        found = operations.read(file)
    has_none = effort.min_repeats == 1 and 0 < effort.budget_seconds < stopwatch.last.wall_seconds
    return found, stopwatch.samples if has_none else []


def _tracks_in_turn(
    steps: list[Step], operations: Operations, file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure the family's own metrics of steps that differ by the page cache, metric by metric."""
    found: dict[str, list[Measured]] = {each.name: [] for each in steps}
    metrics = list(dict.fromkeys(metric for each in steps for metric in each.metrics))
    sampled = sum(METRICS[each].cached for each in metrics)
    turn_seconds = effort.budget_seconds / (MIN_REPEATS * max(1, sampled))
    for metric in metrics:
        own = [each for each in steps if metric in each.metrics]
        if METRICS[metric].cached:
            taken = _samples_in_turn(metric, own, operations, file, turn_seconds, effort.round_number)
        else:
            taken = [_tracked(metric, each, operations, file, turn_seconds) for each in own]
        for step, measured in zip(own, taken, strict=True):
            found[step.name].append(measured)
    return found


def _tracked(
    metric: str, step: Step, operations: Operations, file: Path, budget_seconds: float
) -> Measured:
    _set_cache(step, file)
    return operations.metric(metric, file, cache=step.cache, budget_seconds=budget_seconds)


def _samples_in_turn(  # noqa: PLR0913, PLR0917 (a metric, its file, and limits)
    metric: str,
    steps: list[Step],
    operations: Operations,
    file: Path,
    turn_seconds: float,
    round_number: int,
) -> list[Measured]:
    """Sample a metric for each step in turn, three times, and more often within the time of three."""
    end = time.perf_counter() + MIN_REPEATS * turn_seconds
    taken: dict[str, list[Sequence[float]]] = {each.name: [] for each in steps}
    for turn in turns(end):
        for step in _ordered(steps, turn + round_number):
            _set_cache(step, file)
            samples = operations.sample(
                metric, file, cache=step.cache, turn=turn, budget_seconds=turn_seconds / len(steps)
            )
            taken[step.name].append(samples)
    found = []
    for own in taken.values():
        counted = own[first_calls(len(own), MIN_REPEATS) :]
        found.append(Measured(metric, [sample for each in counted for sample in each]))
    return found


def _check_can_be_cold(file: Path) -> None:
    facts = MediumFacts.of(file.parent)
    if facts.is_in_memory:
        raise NotColdError(
            f"{facts.file_system} keeps its files in memory and has no page cache apart from them: no "
            "read from it is cold"
        )
    page_cache.make_cold(file)


def _set_cache(step: Step, file: Path) -> None:
    """Evict the file if the step is cold, else bring it into the page cache."""
    if step.cache == "cold":
        page_cache.make_cold(file)
    else:
        page_cache.fill(file)


def _ordered(steps: list[Step], turn: int) -> list[Step]:
    """Return the steps in the order of a turn.

    A call after an eviction finds other caches than one after a read, so they swap places from turn
    to turn. Calls that are too dear for a second turn swap from process to process.
    """
    return steps if turn % 2 else steps[::-1]


def _read_cold(operations: Operations, file: Path, stopwatch: Stopwatch) -> tuple[Any, float]:
    """Read a file that is out of the page cache; return the data and the read amplification."""
    before = page_cache.read_counters()
    with stopwatch:
        found = operations.read(file)
    fetched = (page_cache.read_counters() - before).fetched_bytes
    read = max(page_cache.resident_bytes(file), fetched)
    return found, read / operations.adapter.size_bytes(file)


# The metrics of a save that come from the calls themselves; the others are measured on the file.
_TIMED_SAVE = {"save time", "save CPU time", "durable save time", "save memory"}


def _times(step: str, samples: Sequence[Sample], remark: str = "") -> list[Measured]:
    wall, cpu = [each.wall_seconds for each in samples], [each.cpu_seconds for each in samples]
    loop = [each.loop_cpu_seconds for each in samples]
    return [
        Measured(f"{step} time", wall, remark, cpu=cpu, loop=loop),
        Measured(f"{step} CPU time", cpu),
    ]


def _end_of(repeats: Repeats) -> str:
    return f"repeats stopped as {repeats.stopped}"


def _growth_of_memory(memory: FirstGrowth, *metrics: str) -> list[Measured]:
    """Return growth of memory, the peak of the process, which asv alone reports, and memory held."""
    if not IS_MEASURED:
        return [Measured(each, [], NOT_MEASURED, status=CellStatus.UNAVAILABLE) for each in metrics]
    growth = memory.growth
    values = growth.peak_bytes, growth.process_peak_bytes, growth.held_bytes
    remarks = f"by {growth.method}", "", ""
    found = zip(metrics, values, remarks, strict=False)
    return [Measured(metric, [value], remark) for metric, value, remark in found]
