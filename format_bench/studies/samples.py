"""Study of the samples of one call: first calls, processes, write-back, and durable saves."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

import data_formats
import data_generator
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import Stopwatch
from format_bench.instruments.touch import touch

if TYPE_CHECKING:
    import pandas as pd

# Calls of one process: without the first, enough for quartiles.
CALLS = 12

# Calls that make a median of few samples.
FEW = 3

KINDS = ("save", "save at once", "durable save", "read")


def wall_seconds(kind: str, label: str, rows: int, folder: str) -> list[float]:
    """Return the times of calls of one kind in this process.

    Parameters
    ----------
    kind : str
        "save", which waits after each call, outside the clock, until the file is on the device; "save
        at once", which does not, so that the kernel writes back during later calls; "durable save",
        which waits inside the clock; or "read".
    label : str
        A table format.
    rows : int
        Rows of the table `eq`.
    folder : str
        Folder for the file.
    """
    adapter = data_formats.get(label)
    path = Path(folder, f"samples{adapter.suffix}")
    df: pd.DataFrame = data_generator.table("eq", rows=rows).df
    # As in all measuring processes: the library imports here what it loads on first use.
    adapter.save(df.head(8), path)
    adapter.read(path)
    adapter.check(df)
    unchecked = adapter.without_check()
    if kind == "read":
        adapter.save(df, path)
    stopwatch = Stopwatch()
    for _ in range(CALLS):
        if kind == "read":
            with stopwatch:
                touch(adapter.read(path))
            continue
        adapter.remove(path)
        with stopwatch:
            unchecked.save(df, path)
            if kind == "durable save":
                page_cache.sync(path)
        if kind == "save":
            page_cache.sync(path)
    return [each.wall_seconds for each in stopwatch.samples]


def effects(label: str, rows: int, processes: int) -> Iterator[tuple[str, float]]:
    """Yield the name and the size of each effect on the times of a format, as a ratio or a share.

    Parameters
    ----------
    label : str
        A table format.
    rows : int
        Rows of the table `eq`.
    processes : int
        Processes of each kind of call; kinds take turns.
    """
    with tempfile.TemporaryDirectory() as folder:
        rounds = [
            {
                kind: isolation.run(wall_seconds, kind, label, rows, folder, limit_seconds=600).value
                for kind in KINDS
            }
            for _ in range(processes)
        ]
    taken = {kind: [each[kind] for each in rounds] for kind in KINDS}
    later = {kind: [statistics.median(each[1:]) for each in taken[kind]] for kind in KINDS}
    for kind in ("save", "read"):
        first = [each[0] / middle for each, middle in zip(taken[kind], later[kind], strict=True)]
        yield f"first {kind} / later ones", statistics.median(first)
        within = statistics.median(_spread(each[1:]) for each in taken[kind])
        yield f"{kind}: spread within a process", within
        yield f"{kind}: spread between processes", _spread(later[kind])
    yield "save at once / after write-back", _ratio(later["save at once"], later["save"])
    few = [[statistics.median(each[:FEW]) for each in taken[kind]] for kind in ("durable save", "save")]
    below = sum(durable < plain for durable, plain in zip(*few, strict=True))
    yield f"durable save below save, {FEW} calls each", below / processes


def _ratio(one: list[float], other: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def _spread(samples: list[float]) -> float:
    """Return the distance of the quartiles, relative to the median."""
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / middle


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", default=10_000, show_default=True, help="Rows of the table `eq`.")
@click.option(
    "--processes",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Processes of each kind of call.",
)
def command(labels: tuple[str, ...], rows: int, processes: int) -> None:
    """Show why samples of the same call differ.

    Compares the first call of a process with later ones, the spread of the calls within a process with
    that between processes, and saves that wait until the file before is on the device with saves that
    do not. FORMATs are by default CSV, Feather and Parquet.

    \b
    Examples:
      format-bench study samples
      format-bench study samples Pickle HDF5.fixed --rows 100000
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    names = labels or ("CSV", "Feather", "Parquet")
    columns = [dict(effects(label, rows, processes)) for label in names]
    click.echo(" " * 36 + "".join(f"{name:>12}" for name in names))
    for effect in columns[0]:
        click.echo(f"{effect:36}" + "".join(f"{column[effect]:12.2f}" for column in columns))
