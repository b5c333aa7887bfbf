"""The steps of a case, each called in a fresh process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
import data_generator
from format_bench import page_cache, threads
from format_bench.asv_steps import WRONG
from format_bench.cases import Case, Measured
from format_bench.clock import Sample, Timing, repeat, time_call
from format_bench.intervals import relative_deviation
from format_bench.memory import Growth, measure
from format_bench.touch import touch
from format_bench.verify import verify
from format_bench.warm_up import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from adapter_core import DataFormat


class WrongValues(Exception):
    """A table came back with other values than were saved."""


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


def make_table(dataset: str, rows: int, path: Path) -> tuple[int, int]:
    """Generate a table and leave it at `path`; return how many rows and columns it has."""
    df: pd.DataFrame = data_generator.table(dataset, rows=rows).df
    df.to_pickle(path)
    return df.shape


def leave_file(case: Case, table: Path, file: Path) -> None:
    """Save without measuring, for a run that goes on after the measured save."""
    _ready(case).save(_load(table), file, case.codec, case.level)


def save(case: Case, table: Path, file: Path, budget_seconds: float) -> list[Measured]:
    """Measure saving to a file that does not exist yet, plain and durable; the last file stays."""
    adapter, df = _ready(case), _load(table)
    adapter.check(df)
    durable: list[float] = []
    sampler = GrowingSampler()

    def take(step: Callable[[], Any]) -> Sample:
        sample = sampler(step)
        # The second half of a durable save, on a clock that goes on from the first.
        durable.append(sample.wall_seconds + time_call(lambda: page_cache.sync(file)).wall_seconds)
        return sample

    timing = repeat(
        lambda: adapter.save(df, file, case.codec, case.level),
        budget_seconds,
        before=lambda: adapter.remove(file),
        take=take,
    )
    return [
        *_times("save", timing),
        Measured("durable save time", durable),
        _growth("save memory", sampler),
        Measured("size", [adapter.size_bytes(file)], _codec_remark(adapter, case.codec, file)),
    ]


def read(case: Case, table: Path, file: Path, budget_seconds: float) -> list[Measured]:
    """Measure reading a file that is in the page cache, and compare the table with the one saved.

    Raises
    ------
    WrongValues
        If a value, a row or a name came back wrong.
    """
    adapter = _ready(case)
    for each in page_cache.files_of(file):
        each.read_bytes()
    sampler = GrowingSampler()
    kept: list[pd.DataFrame] = []
    timing = repeat(
        lambda: kept.append(touch(adapter.read(file))), budget_seconds, before=kept.clear, take=sampler
    )
    verdict = verify(_load(table), kept[0], adapter.kept_digits)
    if verdict.errors:
        raise WrongValues(WRONG + "; ".join(verdict.errors))
    return [
        *_times("read", timing),
        _growth("read memory", sampler),
        Measured("held memory", [growth.held_bytes for growth in sampler.growths]),
        Measured("lost columns", [verdict.lost_columns], "; ".join(verdict.losses)),
    ]


def cold_read(case: Case, _: Path, file: Path, budget_seconds: float) -> list[Measured]:
    """Measure reading a file that is proven out of the page cache, and what was brought in.

    Raises
    ------
    NotCold
        If it cannot be evicted, or that cannot be proven.
    """
    adapter = _ready(case)
    size_bytes = adapter.size_bytes(file)
    amplification: list[float] = []

    def take(step: Callable[[], Any]) -> Sample:
        before = page_cache.read_bytes()
        sample = time_call(step)
        fetched = (page_cache.read_bytes() - before).fetched
        amplification.append(max(page_cache.resident_bytes(file), fetched) / size_bytes)
        return sample

    timing = repeat(
        lambda: touch(adapter.read(file)),
        budget_seconds,
        before=lambda: page_cache.make_cold(file),
        take=take,
    )
    return [*_times("read", timing), Measured("read amplification", amplification)]


def _ready(case: Case) -> DataFormat:
    """Return the adapter, its libraries imported and under the thread policy."""
    adapter = data_formats.get(case.format)
    warm_up(adapter)
    if case.codec is not None:
        # It imports what only the codec requires, which no call shall pay for.
        adapter.codec_availability(case.codec)
    threads.apply(case.threads)
    return adapter


def _load(table: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_pickle(table)  # noqa: S301 (written by `make_table`)


def _codec_remark(adapter: DataFormat, codec: str | None, file: Path) -> str:
    """Tell of a codec that was asked for and not used, or the other way round."""
    used = adapter.codec_used(file)
    if used == codec or not adapter.codecs:
        return ""
    return f"{adapter.label} was told to use {codec or 'none'}; its file shows {used or 'none'}"


def _times(what: str, timing: Timing) -> list[Measured]:
    wall = [sample.wall_seconds for sample in timing.samples]
    sentence = f"stopped as {timing.stopped}, deviation {relative_deviation(wall):.1%}"
    return [
        Measured(f"{what} time", wall, sentence),
        Measured(f"{what} CPU time", [sample.cpu_seconds for sample in timing.samples]),
    ]


def _growth(metric: str, sampler: GrowingSampler) -> Measured:
    methods = {growth.method for growth in sampler.growths}
    return Measured(
        metric, [growth.peak_bytes for growth in sampler.growths], f"by {', '.join(methods)}"
    )
