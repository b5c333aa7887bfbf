"""Measurement of steps of a family in one process, for the runner and the asv suites alike.

Steps that differ by the page cache alone take turns in one process, so that nothing else tells their
values apart.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from adapter_core.errors import NotColdError
from format_bench.families.operations import Measured
from format_bench.families.query_measuring import QuerySteps
from format_bench.instruments import page_cache
from format_bench.instruments.clock import (
    MIN_REPEATS,
    Repeats,
    Stopwatch,
    first_calls,
    turns,
)
from format_bench.instruments.medium import DeviceWatch, MediumFacts
from format_bench.instruments.memory import FirstGrowth, Growth
from format_bench.results.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from format_bench.families.operations import Operations
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step


def measure_steps(
    steps: Sequence[Step], operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> dict[str, list[Measured]]:
    """Measure the metrics of steps in one process, each cold step in turn with its warm one.

    Parameters
    ----------
    steps : sequence of Step
        Steps of the family's declaration, in order.
    operations, data, file, effort
        As `measure_step` takes them.

    Returns
    -------
    dict
        The metrics of each step, by its name.

    Raises
    ------
    CannotHoldError, NotColdError, WrongValuesError
        As `measure_step` does.
    """
    found: dict[str, list[Measured]] = {}
    for group in turns_of(steps):
        found |= _measure_group(group, operations, data, file, effort)
    return found


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
    step, *others = group
    if not others:
        return {step.name: measure_step(step, operations, data, file, effort)}
    cold = others[0]
    elsewhere = {each.name: operations.measure(each, file) for each in group}
    if None not in elsewhere.values():
        return {name: measured for name, measured in elsewhere.items() if measured is not None}
    # Where no file can be cold, this fails before it costs a read.
    _check_can_be_cold(file)
    if step.name == "read":
        return _reads_in_turn(step, cold, operations, data, file, effort)
    if step.name == "query":
        return QuerySteps([step, cold], operations, data, file).measure(effort)
    return _tracks_in_turn([step, cold], operations, file, effort)


def measure_step(
    step: Step, operations: Operations, data: Callable[[], Any], file: Path, effort: Effort
) -> list[Measured]:
    """Measure the metrics of one step.

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
    elsewhere = operations.measure(step, file)
    if elsewhere is not None:
        return elsewhere
    if step.cache == "cold":
        # Else each query would fail with an error of its own.
        _check_can_be_cold(file)
    if step.name == "save":
        return _save(step, operations, data(), file, effort)
    if step.name == "read":
        return _read(operations, data, file, effort)
    if step.name == "cold read":
        return _cold_read(operations, file, effort)
    if step.name in {"query", "cold query"}:
        return QuerySteps([step], operations, data, file).measure(effort)[step.name]
    return _tracks_in_turn([step], operations, file, effort)[step.name]


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
        *(operations.metric(each, file) for each in step.metrics if each not in _TIMED_SAVE),
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
    amplification, device = [], DeviceWatch(file.parent)
    for stopwatch in repeats:
        page_cache.make_cold(file)
        with device:
            found, share = _read_cold(operations, file, stopwatch)
        amplification.append(share)
        # The pages of a file that is still mapped cannot be evicted.
        del found
    return [*_times("read", repeats), Measured("read amplification", amplification, str(device))]


def _reads_in_turn(  # noqa: PLR0913, PLR0917 (two steps, and what `measure_step` takes)
    warm_step: Step,
    cold_step: Step,
    operations: Operations,
    data: Callable[[], Any],
    file: Path,
    effort: Effort,
) -> dict[str, list[Measured]]:
    """Measure warm and cold reads in turn."""
    warm, cold = Repeats(effort.budget_seconds, effort.min_repeats), Stopwatch()
    memory = FirstGrowth()
    amplification, device = [], DeviceWatch(file.parent)
    page_cache.fill(file)
    # On fresh memory: the growth counts, the time would depend on the order alone.
    with memory:
        found = operations.read(file)
    for turn, stopwatch in enumerate(warm):
        for step in _ordered([warm_step, cold_step], turn + effort.round_number):
            found = None
            _set_cache(step, file)
            if step is cold_step:
                with device:
                    found, share = _read_cold(operations, file, cold)
                amplification.append(share)
            else:
                with stopwatch:
                    found = operations.read(file)
    # Repeats may have dropped the first call.
    del cold.samples[: len(cold.samples) - len(warm.samples)]
    return {
        warm_step.name: [
            operations.verify(data(), found),
            *_times("read", warm),
            *_memory_of_read(memory.growth),
        ],
        cold_step.name: [
            Measured("read time", [each.wall_seconds for each in cold.samples]),
            Measured("read CPU time", [each.cpu_seconds for each in cold.samples]),
            Measured("read amplification", amplification, str(device)),
        ],
    }


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


def _times(step: str, repeats: Repeats) -> list[Measured]:
    wall = [sample.wall_seconds for sample in repeats.samples]
    cpu = [sample.cpu_seconds for sample in repeats.samples]
    remark = f"repeats stopped as {repeats.stopped}"
    return [Measured(f"{step} time", wall, remark), Measured(f"{step} CPU time", cpu)]


def _memory_of_read(growth: Growth) -> list[Measured]:
    return [_peak("read memory", growth), Measured("held memory", [growth.held_bytes])]


def _peak(metric: str, growth: Growth) -> Measured:
    return Measured(metric, [growth.peak_bytes], f"by {growth.method}")
