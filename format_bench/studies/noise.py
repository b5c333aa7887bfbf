"""Study of the noise floor: the difference between two measurements of the same thing.

A is measured against A. Samples of two calls are interleaved, so that a machine that grows slower
favours neither.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import data_formats
import data_generator
from format_bench.instruments import isolation
from format_bench.instruments.clock import Sample, time_call
from format_bench.instruments.memory import measure
from format_bench.instruments.touch import touch
from format_bench.results import noise_floor
from format_bench.results.noise_floor import Floors

if TYPE_CHECKING:
    import pandas as pd


# Random splits of the samples of a call into halves; fifty are beyond the floor.
SPLITS = 1_000

# A floor is what the halves of equal samples exceed in one split of twenty.
CONFIDENCE = 0.95


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], samples: int
) -> tuple[list[Sample], list[Sample]]:
    """Time two calls alternately, and return the samples of each."""
    found: tuple[list[Sample], list[Sample]] = ([], [])
    calls = (first, second)
    for turn in range(samples):
        # The order alternates too: the first call of a pair may leave memory to the second.
        for place in (turn % 2, 1 - turn % 2):
            found[place].append(time_call(calls[place]))
    return found


def floor(samples: Sequence[float], seed: int = 1) -> float:
    """Return the relative difference of medians that two halves of the same samples reach by chance.

    The samples are split into random halves `SPLITS` times. The floor is the 95 % quantile of the
    relative difference of the halves' medians.

    Parameters
    ----------
    samples : sequence of float
        At least four samples of one call.
    seed : int
        Seed of the splits.
    """
    draw = random.Random(seed)  # noqa: S311 (not for secrets)
    half = len(samples) // 2
    differences = []
    for _ in range(SPLITS):
        shuffled = draw.sample(list(samples), len(samples))
        one, other = statistics.median(shuffled[:half]), statistics.median(shuffled[half:])
        differences.append(abs(other - one) / min(one, other) if min(one, other) > 0 else 0.0)
    return sorted(differences)[math.ceil(CONFIDENCE * SPLITS) - 1]


def _memory_sample(label: str, rows: int, folder: str) -> int:
    adapter = data_formats.get(label)
    df: pd.DataFrame = data_generator.table("eq", rows=rows).df
    path = Path(folder, f"memory{adapter.suffix}")
    # Imports what the library loads on first use, which is not growth of the measured save.
    adapter.save(df.head(8), path)
    adapter.check(df)
    unchecked = adapter.without_check()
    return measure(lambda: unchecked.save(df, path))[0].peak_bytes


def _size_sample(label: str, rows: int, folder: str) -> int:
    adapter = data_formats.get(label)
    path = Path(folder, f"size{adapter.suffix}")
    adapter.save(data_generator.table("eq", rows=rows).df, path)
    return adapter.size_bytes(path)


def _timed(label: str, rows: int, samples: int, folder: str) -> dict[str, list[Sample]]:
    adapter = data_formats.get(label)
    df = data_generator.table("eq", rows=rows).df
    path = Path(folder, f"time{adapter.suffix}")
    # The first save warms the library up, and leaves a file for the first read.
    adapter.save(df, path)
    unchecked = adapter.without_check()
    saves, reads = interleaved(
        lambda: unchecked.save(df, path), lambda: touch(adapter.read(path)), samples
    )
    return {"save": saves, "read": reads}


def measure_floors(
    labels: tuple[str, ...], rows: int, samples: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name of each measured step and its floors, by name of the field of `Floors`."""
    with tempfile.TemporaryDirectory() as folder:
        for label in labels:
            for step, taken in _timed(label, rows, samples, folder).items():
                wall = floor([each.wall_seconds for each in taken])
                cpu = floor([each.cpu_seconds for each in taken])
                yield f"{label} {step}", {"wall_time": wall, "cpu_time": cpu}
        for label in labels:
            for name, sample in (("memory", _memory_sample), ("size", _size_sample)):
                # Fewer than of times: each takes a process of its own.
                values = [
                    isolation.run(sample, label, rows, folder, limit_seconds=600).value
                    for _ in range(max(4, samples // 4))
                ]
                yield f"{label} {'save memory' if name == 'memory' else name}", {name: floor(values)}


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--rows", default=200_000, show_default=True, help="Rows of the table `eq`.")
@click.option("--samples", default=20, show_default=True, help="Samples of each call.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the largest floor of each metric to this JSON file; reports mark ties by it.",
)
def command(labels: tuple[str, ...], rows: int, samples: int, out: Path | None) -> None:
    """Measure the noise floor of this machine.

    Prints the floor of each metric. The same call is measured again and again. A difference between
    two formats, or two runs, that is smaller than the floor is noise. FORMATs are by default CSV,
    Feather and Parquet.

    \b
    Examples:
      format-bench study noise
      format-bench study noise --out reports/run/noise.json
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(f"{'cell':22}{'wall time':>12}{'CPU time':>12}")
    largest = dict.fromkeys((field.name for field in fields(Floors)), 0.0)
    for cell, floors in measure_floors(labels or ("CSV", "Feather", "Parquet"), rows, samples):
        click.echo(f"{cell:22}" + "".join(f"{share:12.1%}" for share in floors.values()))
        for name, share in floors.items():
            largest[name] = max(largest[name], share)
    if out:
        noise_floor.write(Floors(**largest), out)
