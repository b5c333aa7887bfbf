"""Study of the noise floor: the difference between two measurements of the same thing.

A is measured against A: the samples of a run, split into halves.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from format_bench.instruments.clock import MIN_REPEATS
from format_bench.results import noise_floor
from format_bench.results.display.terminal import Output
from format_bench.results.noise_floor import Floors
from format_bench.studies.declared import runs

# Random splits of the samples of a call into halves; fifty are beyond the floor.
SPLITS = 1_000

# A floor is what the halves of equal samples exceed in one split of twenty.
CONFIDENCE = 0.95

# Each process has one sample of memory: fewer have no halves to compare.
LEAST_PROCESSES = 4

CELLS = {
    "save": {"wall_time": "save time", "cpu_time": "save CPU time"},
    "read": {"wall_time": "read time", "cpu_time": "read CPU time"},
    "save memory": {"memory": "save memory"},
    "size": {"size": "size"},
}
"""Metric of each floor that is printed, by the name of its line and the field of `Floors`."""


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


def measure_floors(
    labels: Sequence[str], rows: int, samples: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name of each measured step and its floors, by name of the field of `Floors`."""
    rounds = max(LEAST_PROCESSES, math.ceil(samples / MIN_REPEATS))
    cells: runs.Cells = {
        "formats": ",".join(labels),
        "datasets": "eq",
        "rows": rows,
        "steps": "save,read",
        "rounds": rounds,
        "seconds": 0,
    }
    with TemporaryDirectory() as folder:
        found = runs.measure("tabular", [cells], Path(folder), Output(quiet=True)).records
    repeats = {(each.format, each.metric): each.repeats for each in found if each.value is not None}
    for label in labels:
        for name, metrics in CELLS.items():
            taken = {field: repeats.get((label, metric), []) for field, metric in metrics.items()}
            if all(taken.values()):
                yield f"{label} {name}", {field: floor(each) for field, each in taken.items()}


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

    Prints the floor of each metric. The same cells are measured again and again, in several processes
    as in any run. A difference between two formats, or two runs, that is smaller than the floor is
    noise. FORMATs are by default CSV, Feather and Parquet.

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
