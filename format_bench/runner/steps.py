"""The steps of a case, each called in a fresh process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from format_bench.instruments import page_cache
from format_bench.instruments.clock import Sample, Timing, repeat, time_call
from format_bench.instruments.memory import Growth, measure
from format_bench.operations import cases, random_access
from format_bench.operations.cases import Case, Measured, Step
from format_bench.operations.choose import work_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter_core.image_storage import ImageStorage


@dataclass(frozen=True)
class Effort:
    """How much of one step is measured in one process."""

    budget_seconds: float
    """Wall time after which no further repeat begins."""
    least: int
    """Repeats that are made in any case."""


class GrowingSampler:
    """Times calls; of the first, which finds fresh memory, it also tells how the process grew."""

    def __init__(self) -> None:
        self.growths: list[Growth] = []

    def __call__(self, step: Callable[[], Any]) -> Sample:
        """Call once and return how long it took."""
        if self.growths:
            return time_call(step)
        growth, sample = measure(lambda: time_call(step))
        self.growths.append(growth)
        return sample


def leave_file(case: Case, data: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    work = work_on(case)
    work.save(work.load(data), file)


def save(case: Case, data: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure saving to a file that does not exist yet, plain and durable; the last file stays."""
    work = work_on(case)
    loaded = work.load(data)
    work.check(loaded)
    durable: list[float] = []
    sampler = GrowingSampler()

    def take(step: Callable[[], Any]) -> Sample:
        sample = sampler(step)
        # The second half of a durable save, on a clock that goes on from the first.
        durable.append(sample.wall_seconds + time_call(lambda: page_cache.sync(file)).wall_seconds)
        return sample

    timing = repeat(
        lambda: work.save(loaded, file),
        effort.budget_seconds,
        before=lambda: work.adapter.remove(file),
        take=take,
        least=effort.least,
    )
    return [
        *_times("save", timing),
        Measured("durable save time", durable),
        _growth("save memory", sampler),
        *work.about(file),
    ]


def read(case: Case, data: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is in the page cache, and compare the data with those saved.

    Raises
    ------
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    work = work_on(case)
    for each in page_cache.files_of(file):
        each.read_bytes()
    sampler = GrowingSampler()
    kept: list[Any] = []
    timing = repeat(
        lambda: kept.append(work.read(file)),
        effort.budget_seconds,
        before=kept.clear,
        take=sampler,
        least=effort.least,
    )
    return [
        work.verify(work.load(data), kept[0]),
        *_times("read", timing),
        _growth("read memory", sampler),
        Measured("held memory", [growth.held_bytes for growth in sampler.growths]),
    ]


def cold_read(case: Case, _: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading a file that is proven out of the page cache, and what was brought in.

    Raises
    ------
    NotColdError
        If it cannot be evicted, or that cannot be proven.
    """
    work = work_on(case)
    size_bytes = work.adapter.size_bytes(file)
    amplification: list[float] = []

    def take(step: Callable[[], Any]) -> Sample:
        before = page_cache.read_bytes()
        sample = time_call(step)
        fetched = (page_cache.read_bytes() - before).fetched
        amplification.append(max(page_cache.resident_bytes(file), fetched) / size_bytes)
        return sample

    timing = repeat(
        lambda: work.read(file),
        effort.budget_seconds,
        before=lambda: page_cache.make_cold(file),
        take=take,
        least=effort.least,
    )
    return [*_times("read", timing), Measured("read amplification", amplification)]


def random_read(case: Case, _: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure opening a set, and reading single images and batches of it from the page cache."""
    for each in page_cache.files_of(file):
        each.read_bytes()
    storage = cast("ImageStorage", work_on(case).adapter)
    return [
        Measured("open time", random_access.open_seconds(storage, file)),
        *_random(storage, file, "warm", effort),
    ]


def cold_random_read(case: Case, _: Path, file: Path, effort: Effort) -> list[Measured]:
    """Measure reading single images and batches of a set that was out of the page cache when opened.

    Raises
    ------
    NotColdError
        If it cannot be evicted, or that cannot be proven.
    """
    storage = cast("ImageStorage", work_on(case).adapter)
    return _random(storage, file, "cold", effort)


CALLS: dict[Step, Callable[[Case, Path, Path, Effort], list[Measured]]] = {
    cases.SAVE: save,
    cases.READ: read,
    cases.COLD_READ: cold_read,
    cases.SAVE_IMAGES: save,
    cases.READ_IMAGES: read,
    cases.RANDOM_READ: random_read,
    cases.COLD_RANDOM_READ: cold_random_read,
}
"""What measures each step."""


def _random(storage: ImageStorage, file: Path, cache: str, effort: Effort) -> list[Measured]:
    found = []
    for what, size in (("random", 1), ("batch", random_access.BATCH)):
        # Two metrics of three goes each share the time of a step.
        goes = random_access.seconds_per_image(
            storage, file, cache=cache, size=size, budget_seconds=effort.budget_seconds / 6
        )
        found.append(Measured(f"{what} read time per image", goes))
    return found


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
