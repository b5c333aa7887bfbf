"""The runner's steps on a case, each called in a fresh process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.families.operations import Measured, Operations, operations_of, registry_of
from format_bench.instruments import page_cache, threads
from format_bench.instruments.clock import Sample, Timing, repeat, time_call
from format_bench.instruments.memory import Growth, measure

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
    least: int
    """The least number of repeats."""


class GrowingSampler:
    """Sampler of calls that also measures the memory growth of the first, which finds fresh memory."""

    def __init__(self) -> None:
        self.growths: list[Growth] = []

    def __call__(self, step: Callable[[], Any]) -> Sample:
        """Call once and return how long it took."""
        if self.growths:
            return time_call(step)
        growth, sample = measure(lambda: time_call(step))
        self.growths.append(growth)
        return sample


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
    durable: list[float] = []
    sampler = GrowingSampler()

    def take(call: Callable[[], Any]) -> Sample:
        sample = sampler(call)
        # The second half of a durable save, on a clock that goes on from the first.
        durable.append(sample.wall_seconds + time_call(lambda: page_cache.sync(file)).wall_seconds)
        return sample

    timing = repeat(
        lambda: operations.save(loaded, file),
        effort.budget_seconds,
        before=lambda: operations.adapter.remove(file),
        take=take,
        least=effort.least,
    )
    return [
        *_times("save", timing),
        Measured("durable save time", durable),
        _growth("save memory", sampler),
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
    sampler = GrowingSampler()
    kept: list[Any] = []
    timing = repeat(
        lambda: kept.append(operations.read(file)),
        effort.budget_seconds,
        before=kept.clear,
        take=sampler,
        least=effort.least,
    )
    return [
        operations.verify(operations.load(data), kept[0]),
        *_times("read", timing),
        _growth("read memory", sampler),
        Measured("held memory", [growth.held_bytes for growth in sampler.growths]),
    ]


def cold_read(_: Step, case: Case, __: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is proven out of the page cache, and what was brought in.

    Raises
    ------
    NotColdError
        If it cannot be evicted, or that cannot be proven.
    """
    operations = operations_on(case)
    size_bytes = operations.adapter.size_bytes(file)
    amplification: list[float] = []

    def take(call: Callable[[], Any]) -> Sample:
        before = page_cache.read_bytes()
        sample = time_call(call)
        fetched = (page_cache.read_bytes() - before).fetched
        amplification.append(max(page_cache.resident_bytes(file), fetched) / size_bytes)
        return sample

    timing = repeat(
        lambda: operations.read(file),
        effort.budget_seconds,
        before=lambda: page_cache.make_cold(file),
        take=take,
        least=effort.least,
    )
    return [*_times("read", timing), Measured("read amplification", amplification)]


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


def _times(what: str, timing: Timing) -> list[Measured]:
    return [
        Measured(
            f"{what} time",
            [sample.wall_seconds for sample in timing.samples],
            f"repeats stopped as {timing.stopped}",
        ),
        Measured(f"{what} CPU time", [sample.cpu_seconds for sample in timing.samples]),
    ]


def _growth(metric: str, sampler: GrowingSampler) -> Measured:
    methods = {growth.method for growth in sampler.growths}
    return Measured(
        metric, [growth.peak_bytes for growth in sampler.growths], f"by {', '.join(methods)}"
    )
